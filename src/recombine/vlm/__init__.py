"""The vision-language judge of changed pictures."""
