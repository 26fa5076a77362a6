<?php

// A receiver of webhooks: php -S 127.0.0.1:9010 clients/php/examples/hook.php

declare(strict_types=1);

use Ostiary\Webhook;
use Ostiary\WebhookError;

require __DIR__ . '/../autoload.php'; // with Composer: vendor/autoload.php

try {
    $event = Webhook::receive(getallheaders(), file_get_contents('php://input'), apiKeys: [getenv('OSTIARY_API_KEY')]);
} catch (WebhookError $error) {
    error_log("refused: {$error->reason}: {$error->getMessage()}");
    http_response_code(400);
    exit;
}
http_response_code(204); // answer first, work afterwards
error_log("$event->event of session $event->sessionId, delivery $event->id");
