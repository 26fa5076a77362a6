<?php
/**
 * A receiver of Ostiary's webhooks in PHP 8, without dependencies. PHP's own server runs it:
 *
 *   OSTIARY_API_KEY=ost_test_… php -S 127.0.0.1:9000 docs/examples/webhooks/verify.php
 *
 * With OSTIARY_WEBHOOK_KEYS=keys.json, a saved /.well-known/ostiary-webhook-keys/….json, it demands the signature of the key pair instead.
 *
 * Copy verifyWebhook() or verifyKeyPair(), which needs PHP's own extension sodium; what follows only shows how to get at the raw body.
 */
declare(strict_types=1);

/**
 * Whether the holder of the API key sent this webhook, and it is not older than allowed.
 *
 * $rawBody is the bytes as they came: JSON that was parsed and written again is another text.
 * $now is Unix time in seconds; without it any age will do.
 */
function verifyWebhook(
    string $apiKey,
    ?string $timestamp,
    ?string $signature,
    string $rawBody,
    ?int $now = null,
    int $tolerance = 300,
): bool {
    // The D keeps $ from matching before a line break at the end.
    if ($apiKey === '' || !preg_match('/^[0-9]{1,15}$/D', $timestamp ?? '')) {
        return false;
    }
    if (!preg_match('/^sha256=([0-9a-f]{64})$/D', $signature ?? '', $given)) {
        return false;
    }
    $expected = hash_hmac('sha256', $timestamp . '.' . $rawBody, $apiKey);
    // Not ===, which answers sooner the earlier the texts differ.
    if (!hash_equals($expected, $given[1])) {
        return false;
    }
    return $now === null || abs($now - (int) $timestamp) <= $tolerance;
}

/**
 * Whether one of these keys (the member "keys" of the key set) signed this webhook. The API key cannot make such a signature.
 */
function verifyKeyPair(
    array $keys,
    ?string $id,
    ?string $timestamp,
    ?string $signature,
    string $rawBody,
    ?int $now = null,
    int $tolerance = 300,
): bool {
    if (!preg_match('/^[A-Za-z0-9_-]{1,100}$/D', $id ?? '') || !preg_match('/^[0-9]{1,15}$/D', $timestamp ?? '')) {
        return false;
    }
    if ($now !== null && abs($now - (int) $timestamp) > $tolerance) {
        return false;
    }
    // Other signatures in the header, such as v1, count for nothing.
    foreach (array_slice(explode(' ', $signature ?? ''), 0, 8) as $one) {
        if (!preg_match('#^v1a,([A-Za-z0-9+/]{86}==)$#D', $one, $given)) {
            continue;
        }
        foreach ($keys as $jwk) {
            $key = sodium_base642bin($jwk['x'], SODIUM_BASE64_VARIANT_URLSAFE_NO_PADDING);
            if (sodium_crypto_sign_verify_detached(base64_decode($given[1]), "$id.$timestamp.$rawBody", $key)) {
                return true;
            }
        }
    }
    return false;
}

$rawBody = file_get_contents('php://input');
$setting = getenv('TOLERANCE_SECONDS');
$tolerance = $setting === false ? 300 : (int) $setting;
$keysFile = getenv('OSTIARY_WEBHOOK_KEYS');
// 0 switches the window off.
$now = $tolerance > 0 ? time() : null;
if ($keysFile !== false) {
    $genuine = verifyKeyPair(
        json_decode(file_get_contents($keysFile), true)['keys'],
        $_SERVER['HTTP_WEBHOOK_ID'] ?? null,
        $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? null,
        $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? null,
        $rawBody,
        $now,
        $tolerance,
    );
} else {
    $genuine = verifyWebhook(
        (string) getenv('OSTIARY_API_KEY'),
        $_SERVER['HTTP_X_SERVICE_TIMESTAMP'] ?? null,
        $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null,
        $rawBody,
        $now,
        $tolerance,
    );
}
http_response_code($genuine ? 204 : 401);
if ($genuine) {
    // Keep this short: after 10 seconds the delivery counts as failed. It can come twice: remember its id.
    ['outcome' => $outcome, 'status' => $status] = json_decode($rawBody, true);
    $event = $_SERVER['HTTP_X_SERVICE_EVENT'];
    $delivery = $_SERVER['HTTP_X_SERVICE_DELIVERY'];
    file_put_contents('php://stdout', "$event $delivery $outcome $status\n");
}
