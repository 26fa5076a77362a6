<?php

declare(strict_types=1);

namespace Ostiary;

/** An error that the service returned, or the reason why no answer came (`status` 0). */
final class OstiaryError extends \RuntimeException
{
    /**
     * @param string $errorCode Of the service (docs/errors.md), or `INVALID_OPTION` (nothing was sent), `CONNECTION_FAILED`, `TIMED_OUT`,
     *     `NOT_JSON`, `UNKNOWN`. PHP keeps `getCode()` for numbers: there it is the HTTP status.
     * @param list<array<string, mixed>> $details Of a refused body: which field, and why.
     * @param int|null $retryAfter Seconds, from the body or the header `Retry-After`.
     * @param int|null $nodeStatus The `status` in a body of area E; null elsewhere.
     */
    public function __construct(
        string $message,
        public readonly int $status = 0,
        public readonly string $errorCode = 'UNKNOWN',
        public readonly ?string $requestId = null,
        public readonly array $details = [],
        public readonly ?int $retryAfter = null,
        public readonly ?int $nodeStatus = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, $status, $previous);
    }

    /** What was given cannot work: it is refused when it is given, not at the first call. */
    public static function invalid(string $message): self
    {
        return new self($message, errorCode: 'INVALID_OPTION');
    }
}
