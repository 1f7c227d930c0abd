"""libdissent's tokenizers through ctypes: any bytes, pairs, words and places, without the Python package."""
import ctypes as c


class Text(c.Structure):
    _fields_ = [("first", c.c_char_p), ("n_first", c.c_size_t), ("second", c.c_char_p), ("n_second", c.c_size_t)]


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("max_length", c.c_size_t), ("no_special", c.c_bool), ("places", c.c_bool)]


class View(c.Structure):
    _fields_ = [("n_texts", c.c_size_t), ("start", c.POINTER(c.c_size_t)), ("id", c.POINTER(c.c_int32)),
                ("type", c.POINTER(c.c_uint8)), ("from_", c.POINTER(c.c_uint32)), ("to", c.POINTER(c.c_uint32)),
                ("first_token", c.POINTER(c.c_size_t))]


class Library:
    def __init__(self, path):
        self.lib = c.CDLL(path)
        self.lib.dis_last_error.restype = c.c_char_p
        self.lib.dis_view_init.argtypes = [c.c_char_p, c.POINTER(View), c.c_size_t, c.c_void_p]
        self.lib.dis_tokens_destroy.argtypes = [c.c_void_p]
        self.lib.dis_tokenizer_destroy.argtypes = [c.c_void_p]

    def check(self, status):
        if status:
            raise RuntimeError(f"{status}: {self.lib.dis_last_error().decode()}")

    def open(self, folder):
        return Tokenizer(self, folder)


class Tokenizer:
    def __init__(self, library, folder):
        self.library, self.handle = library, c.c_void_p()
        library.check(library.lib.dis_tokenizer_read(None, str(folder).encode(), c.byref(self.handle)))

    def __del__(self):
        self.library.lib.dis_tokenizer_destroy(self.handle)

    def _lists(self, tokens, places):
        view = View()
        self.library.lib.dis_view_init(b"dis_tokens_view", c.byref(view), c.sizeof(view), tokens)
        n = view.start[view.n_texts]
        starts = view.start[:view.n_texts + 1]
        columns = [view.id[:n], view.type[:n]]
        if places:
            columns.append(list(zip(view.from_[:n], view.to[:n])))
        result = [[column[a:b] for a, b in zip(starts, starts[1:])] for column in columns]
        return result, view

    def encode(self, texts, max_length=10**9, special=True, places=False):
        """Texts are str or bytes, or pairs of them. [ids of each], [types of each], with places [(from, to)] as well."""
        raw = []
        for text in texts:
            pair = text if isinstance(text, tuple) else (text, None)
            a, b = (t.encode() if isinstance(t, str) else t for t in pair)
            raw.append(Text(a, len(a), b, len(b) if b is not None else 0))
        array = (Text * len(raw))(*raw)
        options = Options(c.sizeof(Options), max_length, not special, places)
        tokens = c.c_void_p()
        lib = self.library.lib
        self.library.check(lib.dis_tokenizer_encode(None, self.handle, array, c.c_size_t(len(raw)), c.byref(options), c.byref(tokens)))
        result, _ = self._lists(tokens, places)
        lib.dis_tokens_destroy(tokens)
        return result

    def encode_words(self, sentences, max_length=10**9, special=True):
        """[ids of each], and of each word the index of its first token in its sentence or None."""
        flat = [w.encode() for s in sentences for w in s]
        starts = [0]
        for s in sentences:
            starts.append(starts[-1] + len(s))
        words, lengths = (c.c_char_p * len(flat))(*flat), (c.c_size_t * len(flat))(*map(len, flat))
        options = Options(c.sizeof(Options), max_length, not special, False)
        tokens = c.c_void_p()
        lib = self.library.lib
        self.library.check(lib.dis_tokenizer_encode_words(None, self.handle, words, lengths, (c.c_size_t * len(starts))(*starts),
                                                          c.c_size_t(len(sentences)), c.byref(options), c.byref(tokens)))
        result, view = self._lists(tokens, False)
        none = c.c_size_t(-1).value
        first = [[None if view.first_token[j] == none else view.first_token[j] - view.start[i] for j in range(a, b)]
                 for i, (a, b) in enumerate(zip(starts, starts[1:]))]
        lib.dis_tokens_destroy(tokens)
        return result[0], first
