"""A quick lexer: xDSL's tokens, most of them found with one regular expression."""

from __future__ import annotations

import re

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRLexer, MLIRTokenKind

LONGEST_NUMBER = 1000
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*)*")
_COMMON = re.compile(
    r"(?P<PERCENT_IDENT>%(?:[0-9]+|[A-Za-z_$.\-][\w$.\-]*))"
    r"|(?P<BARE_IDENT>[A-Za-z_][\w$.]*)"
    r"|(?P<PUNCTUATION>->|[:,()}\[\]<>=+/*?|])",
    re.ASCII,
)
_KINDS = {
    "PERCENT_IDENT": MLIRTokenKind.PERCENT_IDENT,
    "BARE_IDENT": MLIRTokenKind.BARE_IDENT,
}
_PUNCTUATION = KIND_BY_PUNCTUATION_SPELLING


class _QuickSpan(Span[str]):
    """A span made without the cost of a frozen dataclass's constructor."""

    def __init__(self, start: int, end: int, input: Input[str]) -> None:
        fields = self.__dict__
        fields["start"] = start
        fields["end"] = end
        fields["input"] = input
        fields["line_offset"] = 0


class QuickLexer(MLIRLexer):
    """Reads names and punctuation itself and leaves the rest to xDSL's lexer."""

    # As xDSL's, but possessive: an unclosed string is refused in linear time.
    _unescaped_characters_regex = re.compile(
        r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"'
    )

    @staticmethod
    def _short(token: Token[MLIRTokenKind, str]) -> Token[MLIRTokenKind, str]:
        """The token, unless it is a number too long for any type."""
        span = token.span
        if token.kind == MLIRTokenKind.INTEGER_LIT and span.len > LONGEST_NUMBER:
            raise ParseError(span, f"a number of {span.len} digits is out of range")
        return token

    def lex(self) -> Token[MLIRTokenKind, str]:
        """The next token; ParseError where none begins."""
        content = self.input.content
        space = _SPACE.match(content, self.pos)
        start = self.pos if space is None else space.end()
        match = _COMMON.match(content, start)
        if match is None:
            self.pos = start
            return self._short(super().lex())
        self.pos = end = match.end()
        group = match.lastgroup or ""
        kind = _KINDS.get(group) or _PUNCTUATION[match[0]]
        return Token(kind, _QuickSpan(start, end, self.input))
