import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import { MeshError } from '../../core/base/errors.ts';

/** Made by `npm run build`. */
const BUILT = path.join(import.meta.dirname, '..', '..', 'web', 'dist');
const ASSETS = 'assets';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Names of assets hold a digest of what is in them: they never change. The page itself is asked for again each time. */
const CACHE = { asset: 'public, max-age=31536000, immutable', page: 'no-cache' } as const;

interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: { readonly identity: Buffer; readonly gzip: Buffer; readonly br: Buffer };
}

/** Answers the page, its scripts and styles; hands on every other path. Each is compressed once, when it is first asked for. */
export function buildDashboard(): RequestHandler {
  if (!existsSync(path.join(BUILT, 'index.html'))) throw new Error('The dashboard is not built: run npm run build.');
  /** All there is to ask for. A path is only ever looked up here, never turned into a file's name. */
  const files = new Map([
    ['/', path.join(BUILT, 'index.html')],
    ...readdirSync(path.join(BUILT, ASSETS)).map(
      (name) => [`/${ASSETS}/${name}`, path.join(BUILT, ASSETS, name)] as const,
    ),
  ]);
  const answers = new Map<string, Answer>();
  return (request, response, next) => {
    const file = files.get(request.path);
    if (!file) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const message = `${request.path} answers GET and HEAD only.`;
      return next(new MeshError('method_not_allowed', message, { allow: ['GET', 'HEAD'] }));
    }
    const answer = answers.get(request.path) ?? answerOf(file, request.path);
    answers.set(request.path, answer);
    const encoding = request.acceptsEncodings(['br', 'gzip', 'identity']) || 'identity';
    const body = answer.bodies[encoding as keyof Answer['bodies']];
    response.set(answer.headers);
    if (encoding !== 'identity') response.set('Content-Encoding', encoding);
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    response.set('Content-Length', String(body.length));
    response.end(body);
  };
}

function answerOf(file: string, route: string): Answer {
  const identity = readFileSync(file);
  const digest = createHash('sha256').update(identity).digest('base64url');
  return {
    headers: {
      'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream',
      'Cache-Control': route === '/' ? CACHE.page : CACHE.asset,
      // The same of every encoding, hence weak (RFC 9110, 8.8.1).
      ETag: `W/"${digest}"`,
      Vary: 'Accept-Encoding',
    },
    bodies: { identity, gzip: gzipSync(identity), br: brotliCompressSync(identity) },
  };
}
