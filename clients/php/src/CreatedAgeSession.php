<?php

declare(strict_types=1);

namespace Ostiary;

/** Send the user to `launchUrl`; keep `token` on your server: it is enough to read the result. */
final class CreatedAgeSession
{
    /** @param list<ConfigWarning> $warnings */
    public function __construct(
        public readonly string $token,
        public readonly string $launchUrl,
        public readonly string $sessionId,
        public readonly string $expiresAt,
        public readonly bool $livemode,
        public readonly array $warnings,
    ) {
    }
}
