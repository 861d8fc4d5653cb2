"""The Model Context Protocol: `client/` calls servers, `server/` is one."""

from typing import Self


class BorrowedStream:
    """What the SDK asks of a stream that it writes to (`WriteStream`) and does not close."""

    async def aclose(self) -> None:
        """Do nothing: the stream belongs to its opener."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        return None
