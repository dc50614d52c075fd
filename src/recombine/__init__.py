"""Does a neural network recombine what it knows, or only remember it?

The lab's words, flat: `import recombine as rc`, then `rc.bumps(...)`, `rc.population(...)`, `rc.judge(...)`.
Each is imported when it is first used, so that naming an experiment does not wait for JAX.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "core": "ABSENT Check Claim Model Record Split Task UserError Variant",
    "keys": "key rng",
    "tasks.bumps": "bumps intensity",
    "tasks.continuous": "continuous_bumps",
    "tasks.hyperteacher": "constituents hyperteacher teacher_of widths",
    "tasks.mnist": "first_digit load_digit",
    "tasks.modules": "continuous discrete khot masks",
    "cppn.task": "grid load_picture picture",
    "tasks.preferences": ("compact episode_accuracy masked_cross_entropy preferences step_accuracy whole_map"),
    "tasks.rotation": "drawn_four rotate rotation",
    "tasks.sums": "sum_of_parts",
    "splits.grid": "corner cross gap interior narrow percent random_fraction sample square whole",
    "encodings.position": "Encoding local_bump one_hot padded_bump positional rate require_smooth scaled_rate width",
    "models.cnn": "CNNDecoder",
    "cppn.network": "CPPN from_weights hsv_to_rgb parse_mix write_mix",
    "models.encoder": "CNNEncoder",
    "models.hypernetwork": "Hypernetwork",
    "models.in_context": "InContextTransformer",
    "models.mlp": "MLPDecoder",
    "models.pixels": "PixelMLP",
    "models.rendering": "Rendering tables",
    "models.student": "StudentMLP decays",
    "models.transformer": "TransformerDecoder",
    "interventions.augment": "stripes",
    "interventions.penalise": "Ramp entropy variance weighted",
    "cppn.prune.magnitude": "alive at_random count counts magnitude rewound wanda",
    "cppn.prune.rewire": "narrowed rewired wired",
    "cppn.prune.similarity": "centred_cosine similar_links similar_units",
    "cppn.prune.units": "layer_widths taylor_units widest",
    "measures.additive": "additive_share generally_factorised subspace_overlap",
    "measures.agreement": "kappa kappa_interval raw_agreement roc_area",
    "measures.anova": "anova anova_energies",
    "measures.bands": "horizontal_share table_rank vertical_share",
    "measures.complexity": "epsilon_rank exact_rank pixel_ranks",
    "measures.controls": "blind nearest_memory superposition",
    "measures.cp": "cp_error cp_rank",
    "cppn.measures": (
        "change_zip distinct_share even_share luminance map_zip parity_purity participation_ratio picture_zip"
    ),
    "measures.error": "error_map errors mse nmse",
    "measures.geometry": (
        "factorisation factorisation_from_zero factorisation_map factorisation_of_means finite_differences"
        " hole_depth log_volume metric volume"
    ),
    "measures.grid": "on_grid",
    "measures.memory": "box_share code_superposition cross_share memory_superposition superposition_score",
    "measures.mixture": "mixture_divergence nonnegative_rank",
    "measures.peak": "misplacement peak_accuracy peak_map peaks",
    "measures.pf": "pf_coefficient",
    "cppn.complexity": "COMPLEXITIES png_ratio squares_needed waves_needed",
    "measures.prediction": "by_line by_log_line by_mean predict_left_out",
    "measures.probe": "cross_validated_r2 decodability held_out_r2 in_sample_r2 r2 reader",
    "measures.regression": "r2_by_unit r2_pooled",
    "measures.schmidt": "schmidt_values",
    "measures.similarity": (
        "agreement and_kernel cosine_matrix distance_matrix near or_kernel overlap_matrix pearson rank_correlation same"
    ),
    "measures.spectrum": "effective_rank rank_at top_share",
    "measures.tuning": "bump_index stripe_index tuning_curves tuning_shares",
    "theory.construction": "Hyperteacher construct error_bound pieces_for",
    "theory.interference": (
        "coherence compounded_bound compounded_cross_talk cross_talk interference steepest welch_bound"
    ),
    "theory.sparsity": "effective_depth fan_in inputs_reaching live_links live_units sparsity",
    "theory.volume": "PURE SPARSE drawn_volume_ratio log_volume_ratio sweet_spot volume_ratios",
    "cppn.genome": "Genome evaluate hsv_of layerise load_genome save_genome",
    "train.optimizers": "adamw adamw_cosine muon unit_adam",
    "train.population": "Recipe fit member_keys initial_models population",
    "cppn.sweep.sweep": "every_weight one_by_one slopes sweep",
    "cppn.sweep.compare": "contrast probability_of_superiority inside",
    "cppn.sweep.matching": "matched",
    "cppn.sweep.rotate": "rotated",
    "cppn.sweep.scores": "score unit_maps",
    "cppn.picbreeder": "artifacts import_picbreeder load_network network render",
    "vlm.asking": "Manner",
    "vlm.endpoint": "Endpoint find_endpoint",
    "vlm.vision": "Estimate Price estimate judge_pictures",
    "recording.jacobians": "additive layer_geometry",
    "recording.records": "load_model load_record record records save_model save_record truth",
    "table": (
        "Cell blocks by_seed cells control control_rows correlation_by_seed difference each each_of fitted log_ratio"
        " nan_if_diverged networks pick reads rows value"
    ),
    "claims": "Part Verdict grouped_correlation interval judge judge_all judge_variants turns",
}
_WHERE = {name: module for module, names in _HOME.items() for name in names.split()}
_MODULES = {
    "designed": "cppn.designed",
    "gallery": "cppn.gallery",
    "plots": "plots",
    "supports": "splits.modules",
    "task_encodings": "encodings.tasks",
}
__all__ = sorted([*_WHERE, *_MODULES, "__version__"])  # noqa: PLE0605

if TYPE_CHECKING:
    from recombine import plots as plots
    from recombine.claims import *  # noqa: F403
    from recombine.core import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"recombine.{_MODULES[name]}")
    if name not in _WHERE:
        raise AttributeError(f"recombine has no {name!r}")
    return getattr(import_module(f"recombine.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
