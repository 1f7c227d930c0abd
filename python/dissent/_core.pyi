"""Types of the C module. What is here may change; the package is the interface."""

from collections.abc import Callable, Sequence
from typing import Any

__version__: str

class DissentError(Exception): ...
class InternalError(DissentError, RuntimeError): ...
class OptionError(DissentError, ValueError): ...
class DataError(DissentError, ValueError): ...
class FileError(DissentError, OSError): ...
class LimitError(DissentError, MemoryError): ...
class ConvergenceError(DissentError, RuntimeError): ...
class CancelledError(DissentError, RuntimeError): ...

_Progress = Callable[[str, float], object] | None

class Array:
    """Memory of the library with the buffer protocol."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

class ArrowData: ...

class Column:
    @property
    def kind(self) -> str: ...
    @property
    def ordered(self) -> bool: ...
    @property
    def is_enum(self) -> bool: ...
    def __len__(self) -> int: ...

class Votes:
    @property
    def n_items(self) -> int: ...
    @property
    def n_workers(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def n_votes(self) -> int: ...
    @property
    def scale(self) -> str: ...
    def names(self, axis: str, /) -> list[str]: ...
    def integers(self, axis: str, /) -> Array | None: ...
    def order(self, axis: str, /) -> Array: ...
    def arrays(self) -> tuple[Array, Array, Array] | Array: ...
    def notes(self) -> dict[str, Any]: ...
    def messages(self) -> list[tuple[bool, str]]: ...
    def skipped(self) -> list[str]: ...

class Fit:
    @property
    def p(self) -> Array: ...
    @property
    def trace(self) -> Array: ...
    def summary(self) -> dict[str, Any]: ...
    def warnings(self) -> list[str]: ...
    def parameters(self) -> dict[str, tuple[str, Array]]: ...

def column(source: Any, /) -> Column: ...
def columns(table: Any, names: tuple[str | tuple[str, ...], ...], /) -> list[Column]: ...
def dictionary_column(codes: Any, values: Column, /) -> Column: ...
def dictionaries(column: Column, /) -> list[list[Any]]: ...
def arrow_stream(names: tuple[str, ...], columns: tuple[Any, ...], /) -> object: ...
def arrow_names(votes: Votes, axis: str, /) -> tuple[object, object]: ...
def votes_from_columns(
    task: Column,
    worker: Column,
    label: Column,
    *,
    classes: Sequence[str] | None = None,
    na: Sequence[str] | None = None,
    duplicates: str = "error",
    lenient: bool = False,
    min_votes: int = 0,
    threads: int = 0,
    progress: _Progress = None,
    fold_case: bool = False,
    trim: bool = False,
    allow_many_classes: bool = False,
    scale: str = "nominal",
) -> Votes: ...
def votes_from_files(
    paths: Sequence[str],
    *,
    input: str | None = None,
    format: str | None = None,
    preset: str | None = None,
    task: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    time: str | None = None,
    records: str | None = None,
    keep: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    several: str = "error",
    delimiter: str | None = None,
    header: bool = True,
    classes: Sequence[str] | None = None,
    na: Sequence[str] | None = None,
    duplicates: str = "error",
    lenient: bool = False,
    renormalise: bool = False,
    min_votes: int = 0,
    threads: int = 0,
    progress: _Progress = None,
    fold_case: bool = False,
    trim: bool = False,
    allow_many_classes: bool = False,
    skip: int = 0,
    scale: str = "nominal",
    pair_a: str | None = None,
    pair_b: str | None = None,
    span_start: str | None = None,
    span_end: str | None = None,
) -> Votes: ...
def scales() -> list[tuple[str, str, str | None]]: ...
def find_column(role: str, names: list[str]) -> tuple[int, ...]: ...
def presets() -> list[tuple[str, str]]: ...
def votes_from_arrays(
    task: Any,
    worker: Any,
    label: Any,
    tasks: Sequence[str],
    workers: Sequence[str],
    classes: Sequence[str],
    scale: str = "nominal",
    /,
) -> Votes: ...
def votes_from_counts(
    counts: Any,
    n_items: int,
    n_classes: int,
    *,
    tasks: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
) -> Votes: ...
def fit(
    votes: Votes,
    spec: str,
    *,
    seed: int = 0,
    gold: Any = None,
    start: bytes | None = None,
    predictions: Any = None,
    predictions_weight: float = -1,
    threads: int = 0,
    progress: _Progress = None,
    device: str | None = None,
) -> Fit: ...
def worker_quality(votes: Votes, p: Any, /) -> Array: ...
def combine(
    views: tuple[Any, ...],
    n_items: int,
    n_classes: int,
    spec: str,
    *,
    weights: Any = None,
    votes: Votes | None = None,
    threads: int = 0,
    progress: _Progress = None,
) -> tuple[Array, dict[str, Any]]: ...
def view_weights(
    votes: Votes, specs: Sequence[str], *, by_votes: bool = ...,
    seed: int = 0, threads: int = 0, progress: _Progress = None
) -> Array: ...
def methods() -> list[dict[str, Any]]: ...
def combiners() -> list[dict[str, Any]]: ...
def version_parts() -> list[str]: ...

class Items:
    @property
    def kind(self) -> str: ...
    def __len__(self) -> int: ...

class Model:
    def predict_workers(
        self,
        items: Items,
        tasks: Sequence[str],
        workers: Sequence[str],
        threads: int,
        worker_table: str | None = None,
        /,
    ) -> Array: ...
    def predict(
        self,
        items: Items,
        *,
        head: str | None = None,
        threads: int = 0,
        progress: _Progress = None,
        device: str | None = None,
        precision: str | None = None,
    ) -> Array: ...
    def save(self, folder: str, /) -> None: ...
    def export(self, folder: str, /) -> None: ...
    def view(self) -> dict[str, Any]: ...

_Examples = tuple[Items, Any, Any, Votes | None]

def items_from_texts(
    texts: Sequence[str], n_texts: int = 1, tasks: Sequence[str] | None = None, sentences: Any = None
) -> Items: ...
def items_from_array(x: Any, shape: tuple[int, ...], tasks: Sequence[str] | None = None) -> Items: ...
def train(
    examples: _Examples,
    classes: Sequence[str],
    *,
    dev: _Examples | None = None,
    model: str = "text",
    objective: str = "kl",
    seed: int = 0,
    epochs: int = 0,
    batch: int = 0,
    rate: float = 0,
    optimizer: str | None = None,
    schedule: str | None = None,
    keep: str | None = None,
    patience: int = 0,
    soft_weight: float = 1,
    log_base: float = 0,
    floor: float = 1e-6,
    over_all: bool = False,
    order: str | None = None,
    keep_last: bool = False,
    class_weights: bool = False,
    accumulate: int = 1,
    lenient: bool = False,
    vectors: str | None = None,
    folder: str | None = None,
    resume: bool = False,
    folds: int = 0,
    fold_dev: float = 0,
    fold_jobs: int = 1,
    threads: int = 0,
    progress: _Progress = None,
    encoder: str | None = None,
    device: str | None = None,
    precision: str | None = None,
    worker_table: str | None = None,
    worker_features: str | None = None,
    item_weights: Any = None,
) -> Model: ...
def load_model(folder: str, /) -> Model: ...
def perspectives(
    votes: Votes,
    predictions: Votes,
    history: Votes | None,
    *,
    ordered: bool = False,
    lenient: bool = False,
    resamples: int = 0,
    seed: int = 0,
    threads: int = 0,
    progress: _Progress = None,
) -> dict[str, Any]: ...
def models() -> list[dict[str, Any]]: ...
def objectives() -> list[dict[str, Any]]: ...
def evaluate(
    q: Any,
    n_items: int,
    n_classes: int,
    *,
    gold: Any = None,
    human: Any = None,
    group: Any = None,
    n_groups: int = 0,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = 0,
    fraction: float = 1,
    ordinal: bool = False,
    keep_items: bool = False,
    top_k: int = 3,
    n_splits: int = 5,
    n_bins: int = 15,
    threads: int = 0,
    progress: _Progress = None,
    device: str | None = None,
    votes: Votes | None = None,
    labels: str | None = None,
    item: Any = None,
    class_: Any = None,
    over: str | None = None,
    multi_label: bool = False,
) -> dict[str, Any]: ...
def compare(
    a: tuple[Any, ...],
    b: tuple[Any, ...],
    gold: Any,
    n_classes: int,
    *,
    human: Any = None,
    seed: int = 0,
    resamples: int = 10000,
    fraction: float = 1,
    pool_seeds: bool = False,
    alternative: str = "two-sided",
    threads: int = 0,
    progress: _Progress = None,
    device: str | None = None,
    votes: Votes | None = None,
    item: Any = None,
    class_: Any = None,
    over: str | None = None,
) -> dict[str, Any]: ...
def metrics() -> list[dict[str, Any]]: ...
def panel(
    votes: Votes,
    person: Any,
    *,
    epsilon: float = 0.1,
    fdr: float = 0.05,
    min_people: int = 2,
    min_items: int = 30,
    numbers: bool = False,
    same_errors: float = 0.5,
    precision: float = 0.05,
    budget: int = 0,
    seed: int = 0,
    threads: int = 0,
    progress: _Progress = None,
) -> dict[str, Any]: ...
def judge_certify(
    votes: Votes,
    person: Any,
    judge: str | None,
    weights: Any,
    names: tuple[str, ...],
    covariates: Any,
    epsilon: float,
    requirements: dict[str, float],
    certificate: str | None,
    page: str | None,
    seed: int,
    /,
    *,
    threads: int = 0,
    progress: _Progress = None,
) -> dict[str, Any]: ...
def judge_check(certificate: str, votes: Votes, person: Any, judge: str | None, level: float, /) -> dict[str, Any]: ...
def judge_sample(votes: Votes, person: Any, judge: str | None, score: Any, n: int, seed: int, /) -> dict[str, Any]: ...
def plan(
    votes: Votes | None,
    person: Any,
    gold: Any,
    metric: str,
    judge: str | None,
    second_judge: str | None,
    class_name: str | None,
    numbers: dict[str, float],
    items: tuple[int, ...],
    annotators: tuple[int, ...],
    votes_per_item: tuple[int, ...],
    n_classes: int,
    max_items: int,
    seed: int,
    page: str | None,
    /,
) -> dict[str, Any]: ...
def prediction_sets(
    q: Any,
    n_items: int,
    n_classes: int,
    tasks: list[str],
    calibrates: Any,
    votes: Votes,
    item: Any,
    class_: Any,
    coverage: float,
    score: str,
    allow_empty: bool,
    seed: int,
    threads: int,
    /,
) -> dict[str, Any]: ...
def panel_swaps(votes: Votes, swapped: Votes, mirror: Any, first: int, /) -> dict[str, Any]: ...
def synth(
    votes: str,
    gold: str,
    *,
    model: str,
    n_items: int,
    n_workers: int,
    n_classes: int,
    votes_per_item: int,
    seed: int,
    accuracy: float,
    spread: float,
    spammers: float,
    shuffle: bool,
    text: str | None,
    features: str | None,
    n_features: int,
    theme: str | None = ...,
    n_judges: int = ...,
    human_items: int = ...,
) -> None: ...
def lewidi(
    set: str,
    official: str,
    soft: str | None,
    annotators: str | None,
    soft_out: str | None,
    annotators_out: str | None,
    /,
) -> dict[str, Any]: ...
def worker_table(
    path: str, *, table_id: str | None = None, table_prefix: str | None = None
) -> dict[str, list[str]]: ...
def worker_groups(
    votes: Votes, values: Sequence[str], *, min_group: int = 5, hide: bool = False, cuts: Any = None
) -> dict[str, Any]: ...
def group_evaluation(
    votes: Votes,
    groups: tuple[Any, ...],
    tasks: Sequence[str],
    classes: Sequence[str],
    p: Any,
    *,
    resamples: int = 1000,
    permutations: int = 1000,
    seed: int = 0,
    threads: int = 0,
    progress: _Progress = None,
    over: str | None = None,
) -> dict[str, Any]: ...
def group_agreement(
    votes: Votes,
    values: Sequence[str],
    *,
    min_group: int = 5,
    hide: bool = False,
    cuts: Any = None,
    ordinal: bool = False,
    resamples: int = 1000,
    permutations: int = 1000,
    seed: int = 0,
    threads: int = 0,
    progress: _Progress = None,
    over: str | None = None,
) -> dict[str, Any]: ...
def agreement(
    votes: Votes,
    *,
    gold: Any = None,
    items: bool = True,
    workers: bool = True,
    pairs: bool = True,
    ordinal: bool = False,
    singles: bool = False,
    seed: int = 0,
    resamples: int = 1000,
    max_pairs: int = ...,
    min_common: int = ...,
    threads: int = 0,
    progress: _Progress = None,
    device: str | None = None,
    over: str | None = None,
) -> dict[str, Any]: ...
def agreement_measures() -> list[dict[str, Any]]: ...
def make_labels(
    votes: Votes,
    *,
    methods: Sequence[str] | None = None,
    combine: str | None = None,
    gold: Any = None,
    seed: int = 0,
    threads: int = 0,
    progress: _Progress = None,
) -> Array: ...
def review(
    votes: Votes,
    *,
    methods: Sequence[str] | None = None,
    combine: str | None = None,
    gold: Any = None,
    budget: int = 0,
    by: str = "auto",
    top: int = ...,
    seed: int = 0,
    labels: Any = None,
    p: Any = None,
    accept: float = 0,
    threads: int = 0,
    progress: _Progress = None,
    vote_causes: bool = False,
    groups: tuple[Any, ...] | None = None,
    camps: bool = False,
) -> dict[str, Any]: ...
def distances(
    views: tuple[Any, ...],
    n_items: int,
    n_classes: int,
    *,
    seed: int = 0,
    resamples: int = 1000,
    fraction: float = 1,
    threads: int = 0,
    progress: _Progress = None,
) -> dict[str, Any]: ...
def report(
    path: str,
    labels: tuple[Any, ...] | None,
    predictions: tuple[Any, ...] | None,
    curves: tuple[tuple[str, Model], ...],
    *,
    title: str | None = None,
    seed: int = 0,
    resamples: int = 1000,
    ordinal: bool = False,
    groups: tuple[Any, ...] | None = None,
    panel: tuple[Any, ...] | None = None,
    threads: int = 0,
    progress: _Progress = None,
) -> None: ...
def read_labels(
    path: str, *, format: str | None = None, renormalise: bool = False, threads: int = 0, multi_label: bool = False
) -> tuple[list[str], list[str], Array]: ...
def write_labels(
    path: str, tasks: Sequence[str], classes: Sequence[str], p: Any, *, format: str | None = None, threads: int = 0
) -> None: ...
def experiment_run(
    path: str,
    *,
    store: str | None = None,
    data_folder: str | None = None,
    filters: Sequence[str] | None = None,
    jobs: int = 0,
    retry_failed: bool = False,
    threads: int = 0,
    progress: _Progress = None,
    device: str | None = None,
    precision: str | None = None,
) -> dict[str, Any]: ...
def experiment_table(
    path: str,
    *,
    store: str | None = None,
    data_folder: str | None = None,
    filters: Sequence[str] | None = None,
    threads: int = 0,
) -> list[dict[str, Any]]: ...
def experiment_states(
    path: str,
    *,
    store: str | None = None,
    data_folder: str | None = None,
    filters: Sequence[str] | None = None,
    threads: int = 0,
) -> list[dict[str, Any]]: ...
def experiment_report(
    path: str,
    *,
    store: str | None = None,
    data_folder: str | None = None,
    filters: Sequence[str] | None = None,
    output: str,
    threads: int = 0,
) -> None: ...
def experiment_merge(into: str, stores: Sequence[str], /) -> dict[str, int]: ...

class Tokenizer:
    def encode(
        self,
        first: list[str],
        second: list[str] | None = None,
        max_length: int = 0,
        special: bool = True,
        places: bool = False,
        threads: int = 0,
    ) -> dict[str, Any]: ...
    def encode_words(
        self,
        words: list[str],
        start: Any,
        max_length: int = 0,
        special: bool = True,
        places: bool = False,
        threads: int = 0,
    ) -> dict[str, Any]: ...
    def view(self) -> dict[str, Any]: ...
    def token_id(self, token: str, /) -> int: ...

class Watch:
    def add(self, task: str, worker: str, label: str, /) -> list[tuple[str, str, float, int, str]]: ...
    def finalize(self) -> list[tuple[str, str, float, int, str]]: ...
    def view(self) -> dict[str, int]: ...
    def write(self, path: Any, /) -> None: ...

def watch_open(
    retire: float,
    min_votes: int,
    ask_from: int,
    max_votes: int,
    remember: int,
    power: float,
    limit: float,
    duplicates: int,
    classes: list[str] | None,
    memory: int,
    /,
) -> Watch: ...
def tokenizer_open(folder: Any, /) -> Tokenizer: ...
def embed(
    folder: Any,
    first: list[str],
    second: list[str] | None = None,
    pool: int = 0,
    normalise: bool = False,
    max_length: int = 0,
    threads: int = 0,
    progress: Any = None,
    device: str | None = None,
    precision: str | None = None,
) -> Any: ...
def scaled(
    votes: Votes,
    *,
    method: Sequence[str] | None = None,
    combine: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    threads: int = 0,
    progress: _Progress = None,
    groups: tuple[Any, ...] | None = None,
    covariates: list[tuple[str, Any]] | None = None,
    append: str | None = None,
    save_state: str | None = None,
) -> dict[str, Any]: ...
