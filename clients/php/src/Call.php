<?php

declare(strict_types=1);

namespace Ostiary;

/** @internal */
final class Call
{
    /**
     * @param array<string, mixed> $query
     * @param (\Closure(): mixed)|null $makeBody Made again for each attempt: an envelope of area E is accepted only once. An array or
     *     object is sent as JSON, a text as a form.
     * @param array<string, string> $headers
     * @param list<int> $alsoOk Statuses besides 2xx that are not errors.
     * @param bool $repeatable False: an attempt whose answer was lost may have worked and must not be repeated.
     * @param (\Closure(): void)|null $onMaybeDone Called before a further attempt when the failed one may have worked.
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly array $query = [],
        public readonly ?\Closure $makeBody = null,
        public readonly array $headers = [],
        public readonly array $alsoOk = [],
        public readonly ?float $timeout = null,
        public readonly bool $repeatable = true,
        public readonly ?\Closure $onMaybeDone = null,
    ) {
    }

    /** @param array<string, string> $headers */
    public function withHeaders(array $headers): self
    {
        return new self(
            $this->method,
            $this->path,
            $this->query,
            $this->makeBody,
            $headers + $this->headers,
            $this->alsoOk,
            $this->timeout,
            $this->repeatable,
            $this->onMaybeDone,
        );
    }
}
