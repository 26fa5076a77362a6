<?php

declare(strict_types=1);

namespace Ostiary;

/**
 * One HTTP request by PHP's own streams, which need no extension. An object or closure of your own with the same signature can take its
 * place: `new Client(…, transport: $yours)`.
 */
final class StreamTransport
{
    /**
     * @param array<string, string> $headers
     * @return array{status: int, headers: array<string, string>, body: string} Header names are in lower case.
     * @throws OstiaryError `CONNECTION_FAILED` or `TIMED_OUT` when no whole answer came.
     */
    public function __invoke(string $method, string $url, array $headers, ?string $body, float $timeout): array
    {
        $lines = array_map(static fn(string $name, string $value) => "$name: $value", array_keys($headers), $headers);
        $options = [
            'method' => $method,
            'header' => [...$lines, 'connection: close'],
            'content' => $body ?? '',
            'timeout' => $timeout,
            'protocol_version' => 1.1,
            'ignore_errors' => true,
            // The API key would go to the address that a redirect names.
            'follow_location' => 0,
        ];
        $endsAt = microtime(true) + $timeout;
        $stream = @fopen($url, 'r', false, stream_context_create(['http' => $options]));
        if ($stream === false) {
            throw self::noAnswer(microtime(true) >= $endsAt);
        }
        $text = stream_get_contents($stream);
        /** @var array{timed_out: bool, wrapper_data?: list<string>} $facts */
        $facts = stream_get_meta_data($stream);
        fclose($stream);
        [$status, $answered] = self::readHead($facts['wrapper_data'] ?? []);
        // A connection that breaks in the middle ends like one that is closed: only the length shows it.
        $isWhole = $text !== false && (!isset($answered['content-length']) || strlen($text) >= (int) $answered['content-length']);
        if ($facts['timed_out'] || $status === 0 || !$isWhole) {
            throw self::noAnswer($facts['timed_out']);
        }
        return ['status' => $status, 'headers' => $answered, 'body' => (string) $text];
    }

    /**
     * @param list<string> $lines
     * @return array{int, array<string, string>} The last answer's: another one, such as 100, may stand before it.
     */
    private static function readHead(array $lines): array
    {
        [$status, $headers] = [0, []];
        foreach ($lines as $line) {
            if (preg_match('#^HTTP/\S+ (\d{3})#', $line, $found) === 1) {
                [$status, $headers] = [(int) $found[1], []];
            } elseif (str_contains($line, ':')) {
                [$name, $value] = explode(':', $line, 2);
                $headers[strtolower(trim($name))] = trim($value);
            }
        }
        return [$status, $headers];
    }

    private static function noAnswer(bool $isTimeout): OstiaryError
    {
        return $isTimeout
            ? new OstiaryError('The service did not answer in time', errorCode: 'TIMED_OUT')
            : new OstiaryError('The service could not be reached', errorCode: 'CONNECTION_FAILED');
    }
}
