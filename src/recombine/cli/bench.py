"""recombine bench: speed, side by side."""

from __future__ import annotations


def bench(words: list[str]) -> int:
    """Run a benchmark, or list them."""
    from recombine import bench as benches

    if not words or words[0] in ("-h", "--help"):
        print("Speed, side by side, each as one line of JSON. Options are name=number.")
        print("Example: recombine bench population members=4 width=16 repeats=3\n")
        for name, said in benches.described().items():
            print(f"  {name:14} {said}")
        return 0
    return benches.main(words)
