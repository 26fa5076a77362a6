<?php

declare(strict_types=1);

namespace Ostiary;

/** Send the user to `launchUrl`. The outcome arrives by webhook. */
final class CreatedVerification
{
    /** @param list<ConfigWarning> $warnings */
    public function __construct(
        public readonly string $launchUrl,
        public readonly string $sessionId,
        public readonly string $expiresAt,
        public readonly bool $livemode,
        public readonly array $warnings,
    ) {
    }
}
