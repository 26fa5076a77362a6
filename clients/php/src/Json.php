<?php

declare(strict_types=1);

namespace Ostiary;

/** @internal */
final class Json
{
    public static function encode(mixed $value): string
    {
        try {
            return json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        } catch (\JsonException $error) {
            throw new OstiaryError("This cannot be sent as JSON: {$error->getMessage()}", errorCode: 'INVALID_OPTION', previous: $error);
        }
    }

    /** An empty array of PHP may be a list or an object; where the service expects an object, say so. */
    public static function asObject(mixed $value): mixed
    {
        return $value === [] ? new \stdClass() : $value;
    }
}
