from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.client.credentials import REREAD, Issued, IssuedCredentials, Secret, TokenFile
from dra_scheduler.client.errors import ConnectError


class Issuer:
    """Counts; fails when told to."""

    def __init__(self, clock: VirtualClock, life: float | None) -> None:
        self.clock = clock
        self.life = life
        self.count = 0
        self.fails = False

    async def __call__(self) -> Issued:
        await asyncio.sleep(0.1)
        if self.fails:
            raise ConnectError("plugin broken")
        self.count += 1
        expires = None if self.life is None else self.clock.now() + timedelta(seconds=self.life)
        return Issued(Secret(f"Bearer {self.count}"), expires)


@pytest.mark.parametrize(("life", "renewed_after"), [(3600, 3300), (100, 90), (60, 54)])
def test_a_secret_is_renewed_before_it_expires(life: float, renewed_after: float) -> None:
    async def main(clock: VirtualClock) -> None:
        issuer = Issuer(clock, life)
        credentials = IssuedCredentials(issuer, clock)
        await asyncio.gather(*(credentials.current() for _ in range(10)))
        assert issuer.count == 1
        await asyncio.sleep(renewed_after - 1)
        await credentials.current()
        assert issuer.count == 1
        await asyncio.sleep(1)
        assert (await credentials.current()).authorization == "Bearer 2"

    run_virtual(main)


def test_one_that_does_not_expire_is_asked_for_once_and_anew_when_rejected_but_not_all_the_time() -> None:
    async def main(clock: VirtualClock) -> None:
        issuer = Issuer(clock, None)
        credentials = IssuedCredentials(issuer, clock)
        first = await credentials.current()
        await asyncio.sleep(1e6)
        assert await credentials.current() == first
        second = await credentials.renew(first)
        assert second != first
        assert await credentials.renew(first) == second  # somebody else renewed it
        assert await credentials.renew(second) == second  # just now, nothing better to be had
        await asyncio.sleep(10)
        assert (await credentials.renew(second)).authorization == "Bearer 3"

    run_virtual(main)


def test_a_plugin_that_breaks_later_leaves_the_old_secret(caplog: pytest.LogCaptureFixture) -> None:
    async def main(clock: VirtualClock) -> None:
        issuer = Issuer(clock, 100)
        credentials = IssuedCredentials(issuer, clock)
        issuer.fails = True
        with pytest.raises(ConnectError):
            await credentials.current()
        issuer.fails = False
        first = await credentials.current()
        issuer.fails = True
        await asyncio.sleep(95)
        assert await credentials.current() == first
        assert "credentials not renewed, the old ones are used error=plugin broken" in caplog.text
        issuer.fails = False
        await asyncio.sleep(6)
        assert await credentials.current() != first

    run_virtual(main)


def test_a_token_file_is_read_every_minute_and_a_broken_one_keeps_the_old_token(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main(clock: VirtualClock) -> None:
        file = tmp_path / "token"
        credentials = TokenFile(file, clock)
        for content, message in (
            (None, "No such file"),
            (b"", "empty"),
            (b"a\nb", "not one word"),
            (b"\xff", "ASCII"),
        ):
            if content is not None:
                file.write_bytes(content)
            with pytest.raises(ConnectError, match=message):
                await credentials.current()
        file.write_text("one")
        assert (await credentials.current()).authorization == "Bearer one"
        file.write_text("two")
        assert (await credentials.current()).authorization == "Bearer one"
        await asyncio.sleep(REREAD)
        assert (await credentials.current()).authorization == "Bearer two"
        for content in (b"", b"\xff"):
            file.write_bytes(content)
            await asyncio.sleep(REREAD)
            assert (await credentials.current()).authorization == "Bearer two"
        assert caplog.text.count("the old one is used") == 2

    run_virtual(main)
