<?php

declare(strict_types=1);

namespace Ostiary;

final class Candidate
{
    /**
     * @param float $score The lower edge of a band (0.5, 0.9, 0.99), or exact where the tenant set `nodeScores` to `exact`.
     * @param bool $replay The features are those of an enrolment itself, sent again: no new picture of a face.
     */
    public function __construct(
        public readonly string $puid,
        public readonly string $guid,
        public readonly float $score,
        public readonly bool $replay,
    ) {
    }
}
