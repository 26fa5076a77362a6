<?php

declare(strict_types=1);

namespace Ostiary;

/** What the service says about a call that it accepted: it will disappoint. docs/api/age.md lists the codes. */
final class ConfigWarning
{
    /** @param string|null $subject What it is about, where the code alone does not say it: the name of an ignored field. */
    public function __construct(public readonly string $code, public readonly ?string $subject = null)
    {
    }

    /** @return list<self> Of `estimate-without-buffer, ignored-field: livenessEnabled`. */
    public static function listIn(string $header): array
    {
        $found = [];
        foreach (array_filter(array_map('trim', explode(',', $header)), static fn(string $entry) => $entry !== '') as $entry) {
            $parts = array_map('trim', explode(':', $entry, 2));
            $found[] = new self($parts[0], $parts[1] ?? null);
        }
        return $found;
    }

    public function __toString(): string
    {
        return $this->subject === null ? $this->code : "{$this->code}: {$this->subject}";
    }
}
