<?php

declare(strict_types=1);

namespace Ostiary;

final class Enrolled
{
    /** @param bool $isNew False when this face was already enrolled; `puid` is then that user's. */
    public function __construct(
        public readonly string $puid,
        public readonly string $guid,
        public readonly int $enrollLevel,
        public readonly bool $isNew,
    ) {
    }
}
