"""Whatever text or object comes from outside: only our own errors come out, in bounded time, and answers agree."""
