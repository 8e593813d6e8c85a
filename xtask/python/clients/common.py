"""What the client scripts share: where the server is, what a call gave, and how a script answers."""

import asyncio
import json
import logging
import sys
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Target:
    """Where the server is: a command to start, or a URL and what to show there."""

    command: list[str] | None = None
    url: str | None = None
    token: str | None = None


def arguments(args: list[str]) -> tuple[str, str, str, list[str]]:
    """Splits what a script is given into ERA, OK, BAD and where the server is."""
    if len(args) < 4:
        raise ValueError("say ERA OK BAD, and where the server is")
    era, ok, bad, *where = args
    return era, ok, bad, where


def target(args: list[str]) -> Target:
    """Reads `stdio -- COMMAND ARGS…` or `http URL [TOKEN]`."""
    match args:
        case ["stdio", "--", command, *rest]:
            return Target(command=[command, *rest])
        case ["http", url]:
            return Target(url=url)
        case ["http", url, token]:
            return Target(url=url, token=token)
    raise ValueError("say where the server is: `stdio -- COMMAND ARGS…` or `http URL [TOKEN]`")


def mode(era: str) -> str:
    """What both libraries call an era."""
    modes = {"legacy": "legacy", "modern": "2026-07-28", "auto": "auto"}
    if era not in modes:
        raise ValueError("ERA is legacy, modern or auto")
    return modes[era]


def call(text: str) -> tuple[str, dict[str, Any]]:
    """Reads a call that an argument describes: `{"name": …, "arguments": {…}}`."""
    given = json.loads(text)
    return given["name"], given.get("arguments", {})


async def outcome(calling: Awaitable[Any]) -> dict[str, Any]:
    """What a call gave, in the same fields for every client.

    `code` is the tool's own (`error.code` in the text of a result that is an error), or the protocol's number where the
    client raised.
    """
    try:
        result = await calling
    except Exception as e:
        return {"isError": True, "thrown": type(e).__name__, "code": getattr(e, "code", None), "message": str(e)}
    text = [part.text for part in result.content if part.type == "text"]
    # The field of FastMCP's own result is `meta` as well.
    given = {"isError": bool(result.is_error), "structured": result.structured_content, "text": text, "meta": result.meta}
    if given["isError"]:
        given["code"] = _code_in(text)
    return given


def _code_in(text: list[str]) -> str | None:
    try:
        return json.loads(text[0])["error"]["code"]
    except (IndexError, KeyError, TypeError, ValueError):
        return None


class _Keep(logging.Handler):
    """Keeps what libraries log, instead of printing it."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.said = said

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(f"{record.name}: {record.getMessage()}")


def main(work: Callable[[list[str]], Awaitable[dict[str, Any]]]) -> None:
    """Runs a script: its one object goes to standard output; what libraries warn about on the way is part of it."""
    said: list[str] = []
    logging.captureWarnings(True)
    warnings.simplefilter("always")
    # FastMCP's logger has handlers of its own and does not pass on what it is told.
    for name in ("", "fastmcp"):
        logging.getLogger(name).handlers = [_Keep(said)]
    failed = False
    try:
        answer = {**asyncio.run(work(sys.argv[1:])), "warnings": said}
    except BaseException as e:
        failed = True
        cause = _first(e)
        told = {"name": type(cause).__name__, "code": getattr(cause, "code", None), "message": str(cause)}
        answer = {"error": told, "warnings": said}
    print(json.dumps(answer, default=str))
    sys.exit(failed)


def _first(e: BaseException) -> BaseException:
    """What happened, without the groups that task groups wrap it in."""
    while isinstance(e, BaseExceptionGroup) and e.exceptions:
        e = e.exceptions[0]
    return e
