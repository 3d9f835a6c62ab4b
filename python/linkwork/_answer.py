"""Results that are read by name."""


class Answer(dict):
    """A dict whose entries are attributes too, so that a result can be explored by completion.

    >>> from linkwork._answer import Answer
    >>> Answer(stable=True, q={"theta": 1.5}).q.theta
    1.5
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for key, value in self.items():
            self[key] = answer(value)

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no '{name}', but: {', '.join(map(str, self))}") from None

    def __dir__(self):
        return [*super().__dir__(), *map(str, self)]


def answer(value):
    """JSON values with attributes."""
    if isinstance(value, dict) and not isinstance(value, Answer):
        return Answer(value)
    if isinstance(value, list):
        return [answer(item) for item in value]
    return value


class Names(tuple):
    """Names in the order of an array. Indexed by a name it tells where that one is.

    >>> from linkwork._answer import Names
    >>> joints = Names(["theta", "ball.w", "ball.x", "ball.y", "ball.z"])
    >>> joints[0], joints["theta"], joints["ball"]
    ('theta', 0, slice(1, 5, None))
    """

    def __getitem__(self, key):
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key in self:
            return self.index(key)
        parts = [i for i, name in enumerate(self) if name.startswith(key + ".")]
        if not parts:
            raise KeyError(f"there is no '{key}', but: {', '.join(self)}")
        return slice(parts[0], parts[-1] + 1)
