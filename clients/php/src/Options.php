<?php

declare(strict_types=1);

namespace Ostiary;

/**
 * How calls are made.
 *
 * @internal Made by `Client`.
 */
final class Options
{
    /**
     * @param \Closure(string, string, array<string, string>, ?string, float): array{status: int, headers: array<string, string>, body: string} $transport
     * @param (\Closure(OstiaryError, int, float): void)|null $onRetry
     * @param (\Closure(ConfigWarning): void)|null $onWarning
     */
    public function __construct(
        public readonly float $timeout,
        public readonly int $maxRetries,
        public readonly float $maxWait,
        public readonly \Closure $transport,
        public readonly ?\Closure $onRetry,
        public readonly ?\Closure $onWarning,
        public readonly bool $logWarnings,
    ) {
    }
}
