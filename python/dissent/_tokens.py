"""Pretrained encoders: texts into ids, the same as Hugging Face tokenizers makes, and into vectors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import _core
from ._figures import Table, shown_with
from ._measuring import Watching
from ._results import _text, frame_of
from ._running import ProgressLike, threads_of

_NONE = np.iinfo(np.uint64).max


class Tokens:
    """Concatenated tokens of several texts: text i has ids[start[i]:start[i + 1]].

    Attributes
    ----------
    start : (n + 1) where each text's tokens begin
    ids, types : (start[-1]) int32 ids, and 0 or 1 for the second text where the encoder tells texts apart
    places : (start[-1], 2) bytes of the text that a token stands for, or None unless asked for
    first_token : of words: (words) index of each word's first token, -1 where it has none or was cut off; else None
    """

    def __init__(self, encoded: dict) -> None:
        self.start = np.asarray(encoded["start"]).astype(np.int64)
        self.ids = np.asarray(encoded["id"])
        self.types = np.asarray(encoded["type"])
        self.places = (
            None if encoded["from"] is None else np.stack([np.asarray(encoded["from"]), np.asarray(encoded["to"])], axis=1)
        )
        self.first_token = None
        if encoded["first_token"] is not None:
            first = np.asarray(encoded["first_token"])
            self.first_token = np.where(first == _NONE, np.uint64(0), first).astype(np.int64)
            self.first_token[first == _NONE] = -1

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, i: int) -> list[int]:
        """The ids of text i."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} texts")
        i %= len(self)
        return self.ids[self.start[i] : self.start[i + 1]].tolist()

    def __iter__(self) -> Iterator[list[int]]:
        return (self[i] for i in range(len(self)))

    def _rows(self) -> Table:
        text = np.repeat(np.arange(len(self)), np.diff(self.start))
        columns = {"text": text, "id": self.ids.astype(np.int64), "type": self.types.astype(np.int64)}
        if self.places is not None:
            columns.update(zip(("start", "end"), self.places.astype(np.int64).T))
        return Table(columns)

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row per token: number of the text, id, type, and its bytes if requested. kind is "pandas",
        "polars", "pyarrow", or None for the first that is installed."""
        return frame_of(self._rows(), kind)

    def __repr__(self) -> str:
        return f"Tokens({len(self)} texts, {len(self.ids)} tokens)"

    def _repr_html_(self) -> str:
        return shown_with(self, self._rows())


class Tokenizer:
    """The tokenizer of an encoder's folder as Hugging Face lays it out; weights are not needed.

    Read are tokenizer.json, or vocab.json and merges.txt, or vocab.txt, with tokenizer_config.json and config.json
    in the same folder. Padding and truncation blocks of tokenizer.json are ignored.

    >>> tokenizer = dissent.Tokenizer("minilm")  # doctest: +SKIP
    >>> tokenizer.encode("A man eats.")  # doctest: +SKIP
    [101, 1037, 2158, 20323, 1012, 102]

    Parameters
    ----------
    folder : where the files are
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._core = _core.tokenizer_open(folder)
        encoded = self._core.view()
        self.model: str = encoded.pop("model")
        self.vocab_size: int = encoded.pop("n_ids")
        self.max_length: int | None = encoded.pop("max_length") or None
        self.special: dict[str, int] = {name: i for name, i in encoded.items() if i >= 0}

    def __repr__(self) -> str:
        longest = "" if self.max_length is None else f", at most {self.max_length} tokens"
        return f"Tokenizer({self.model}, {self.vocab_size} ids{longest})"

    def _repr_html_(self) -> str:
        return f"<code>{_text(repr(self), 200)}</code>"

    def token_to_id(self, token: str) -> int | None:
        """The id of a token as the vocabulary writes it."""
        i = self._core.token_id(token)
        return i if i >= 0 else None

    def encode(
        self, text: str, pair: str | None = None, *, max_length: int | None = None, special: bool = True
    ) -> list[int]:
        """Ids of one text, or of two that belong together."""
        pairs = None if pair is None else [pair]
        return self.encode_batch([text], pairs, max_length=max_length, special=special, n_jobs=1)[0]

    def encode_batch(
        self,
        texts: Sequence[str],
        pairs: Sequence[str] | None = None,
        *,
        max_length: int | None = None,
        special: bool = True,
        places: bool = False,
        n_jobs: int | None = None,
    ) -> Tokens:
        """Ids of many texts, or of pairs of texts.

        Parameters
        ----------
        texts : list of str
            The texts.
        pairs : list of str, optional
            The second text of each pair.
        max_length : int, optional
            Tokens per text, special ones included; None: what the folder allows. The longer text of a pair is
            shortened first.
        special : bool
            Add special tokens.
        places : bool
            Also return the bytes of each token.
        n_jobs : int, optional
            Threads; None or -1: all cores. Never changes a result.
        """
        return Tokens(
            self._core.encode(
                list(texts),
                None if pairs is None else list(pairs),
                max_length=max_length or 0,
                special=special,
                places=places,
                threads=threads_of(n_jobs),
            )
        )

    def encode_words(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        max_length: int | None = None,
        special: bool = True,
        places: bool = False,
        n_jobs: int | None = None,
    ) -> Tokens:
        """Ids of sentences that are split into words, with the first token of each word. Parameters as of
        encode_batch."""
        start = np.zeros(len(sentences) + 1, np.uint64)
        np.cumsum([len(s) for s in sentences], out=start[1:])
        words = [word for sentence in sentences for word in sentence]
        return Tokens(
            self._core.encode_words(
                words, start, max_length=max_length or 0, special=special, places=places, threads=threads_of(n_jobs)
            )
        )


_POOLS = ("mean", "first")


def embed(
    texts: Sequence[str],
    pairs: Sequence[str] | None = None,
    *,
    encoder: str | os.PathLike[str],
    pool: str = "mean",
    normalise: bool = False,
    max_length: int | None = None,
    device: str = "cpu",
    precision: str = "auto",
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> np.ndarray:
    """Vectors of texts, or of pairs of texts, by a pretrained encoder: the same as transformers computes.

    >>> dissent.embed(["A man eats.", "Nobody eats."], encoder="minilm").shape  # doctest: +SKIP
    (2, 384)

    Parameters
    ----------
    texts : list of str
        The texts.
    pairs : list of str, optional
        The second text of each pair.
    encoder : folder
        A folder as Hugging Face lays it out: config.json, a tokenizer, model.safetensors.
    pool : str
        "mean" of all tokens, or the "first" token.
    normalise : bool
        Scale vectors to length 1.
    max_length : int, optional
        Tokens per text, special ones included; None: what the folder allows.
    device : str
        Where the model runs: "cpu", "cuda", "cuda:N", or "auto": a CUDA device if available.
    precision : str
        "float32", "bf16" (CUDA devices, and CPUs with AVX512_BF16), or "auto": bf16 on CUDA devices, else float32.
    n_jobs : int, optional
        Threads; None or -1: all cores. Never changes a result.
    progress : bool or callable
        True: a line on standard error; a function of (what, share done).

    Returns
    -------
    (n, width) float32
    """
    if pool not in _POOLS:
        raise _core.OptionError(f"pool={pool!r}: choose {' or '.join(map(repr, _POOLS))}")
    with Watching(n_jobs, progress) as watching:
        return np.asarray(
            _core.embed(
                encoder,
                list(texts),
                None if pairs is None else list(pairs),
                pool=_POOLS.index(pool),
                normalise=normalise,
                max_length=max_length or 0,
                device=device,
                precision=precision,
                **watching,
            )
        )
