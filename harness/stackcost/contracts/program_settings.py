"""Sections of an experiment for servers; each kind of server uses the settings that it has."""

from pydantic import BaseModel, ConfigDict, Field

from stackcost.contracts.http import RSA, Certificate


class ProgramSettings(BaseModel):
    """What programs on the kernel's stack have in common: nginx, HAProxy, rustls and others."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    workers: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="worker processes or threads; default: one for each core",
    )
    worker_connections: int = Field(
        default=16_384,
        ge=64,
        le=10_000_000,
        description="most connections of each worker; nginx allocates them at start",
    )
    backlog: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="length of each accept queue, at most net.core.somaxconn; default: the "
        "program's own (nginx 511)",
    )
    reuseport: bool = Field(
        default=True,
        description="nginx/kernel: a listening socket for each worker (SO_REUSEPORT); false: one, "
        "from which all accept",
    )
    certificate: Certificate = Field(
        default=RSA, description="key of the server's certificate, for tests over TLS"
    )


class HaproxySettings(BaseModel):
    """Section `haproxy`: the farm behind haproxy/kernel."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    backends: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="nginx in the farm; default: one for each worker, at least two",
    )
