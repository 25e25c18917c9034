import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/** A year; sent over TLS only, where browsers heed it. */
export const STRICT_TRANSPORT_SECURITY = 'max-age=31536000; includeSubDomains';

const secure = helmet({
  strictTransportSecurity: false,
  contentSecurityPolicy: {
    directives: {
      'default-src': ["'self'"],
      'connect-src': ["'self'"],
      'style-src': ["'self'"],
      'img-src': ["'self'", 'data:'],
      'require-trusted-types-for': ["'script'"],
      'trusted-types': ["'none'"],
      'frame-ancestors': ["'none'"],
      'upgrade-insecure-requests': null,
    },
  },
});

/**
 * The headers of helmet as raw name, value pairs, worked out once instead of on every request: they never change.
 */
export function securityHeaders(): readonly string[] {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  secure(request, response, (error?: unknown) => {
    if (error) throw error;
  });
  return Object.entries(response.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
}
