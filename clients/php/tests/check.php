<?php

/** Three functions instead of a test framework: a client without dependencies is tested without any. */

declare(strict_types=1);

namespace Ostiary\Tests;

require __DIR__ . '/../autoload.php';

// A warning or notice fails a test as an error does.
set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    if ((error_reporting() & $level) !== 0) {
        throw new \ErrorException($message, 0, $level, $file, $line);
    }
    return false;
});

/** Runs one test and says how it went. The process ends with 1 when any has failed. */
function test(string $name, \Closure $body): void
{
    static $isRegistered = false;
    static $failed = 0;
    if (!$isRegistered) {
        $isRegistered = true;
        register_shutdown_function(static function () use (&$failed): void {
            if ($failed > 0) {
                exit(1);
            }
        });
    }
    try {
        $body();
        echo "ok   $name\n";
    } catch (\Throwable $error) {
        $failed++;
        echo "FAIL $name\n     {$error->getMessage()} ({$error->getFile()}:{$error->getLine()})\n";
    }
}

function same(mixed $actual, mixed $expected, string $what = 'it'): void
{
    if ($actual !== $expected) {
        throw new \RuntimeException("$what is " . var_export($actual, true) . ', not ' . var_export($expected, true));
    }
}

/**
 * @template T of \Throwable
 * @param class-string<T> $class
 * @return T
 */
function thrown(string $class, \Closure $body, string $what = 'it'): \Throwable
{
    try {
        $body();
    } catch (\Throwable $error) {
        if ($error instanceof $class) {
            return $error;
        }
        throw $error;
    }
    throw new \RuntimeException("$what threw no $class");
}
