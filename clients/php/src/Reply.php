<?php

declare(strict_types=1);

namespace Ostiary;

/** @internal */
final class Reply
{
    /**
     * @param array<string, mixed> $body Empty where the answer has no body.
     * @param list<ConfigWarning> $warnings
     */
    public function __construct(public readonly array $body, public readonly array $warnings)
    {
    }
}
