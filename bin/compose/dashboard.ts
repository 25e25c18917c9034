import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import { MeshError } from '../../core/base/errors.ts';
import { SIGN_IN_PATH } from '../../core/model/issuers.ts';

/** Made by `npm run build`. */
const BUILT = path.join(import.meta.dirname, '..', '..', 'web', 'dist');
const ASSETS = 'assets';
const DOCS = 'docs';
const NO_PAGE = path.join(BUILT, DOCS, '404.html');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.webp': 'image/webp',
};
/** Compressed as they are. */
const PACKED: ReadonlySet<string> = new Set(['.woff2', '.webp']);

/** Names of assets hold a digest of what is in them: they never change. The page itself is asked for again each time. */
const CACHE = { asset: 'public, max-age=31536000, immutable', page: 'no-cache' } as const;

interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: { readonly identity: Buffer; readonly gzip?: Buffer; readonly br?: Buffer };
}

/**
 * Answers the page, its scripts and styles, and the documentation; hands on every other path. Each is compressed once, when
 * it is first asked for.
 */
export function buildDashboard(): RequestHandler {
  if (!['index.html', `${DOCS}.html`].every((page) => existsSync(path.join(BUILT, page)))) {
    throw new Error('The dashboard is not built: run npm run build.');
  }
  /** All there is to ask for. A path is only ever looked up here, never turned into a file's name. */
  const files = new Map([
    ['/', path.join(BUILT, 'index.html')],
    ...readdirSync(path.join(BUILT, ASSETS)).map(
      (name) => [`/${ASSETS}/${name}`, path.join(BUILT, ASSETS, name)] as const,
    ),
    ...docsFiles(),
  ]);
  const answers = new Map<string, Answer>();
  return (request, response, next) => {
    const isNoPage = request.path.startsWith(`/${DOCS}/`) && !files.has(request.path);
    const asked = request.path.startsWith(SIGN_IN_PATH) ? '/' : request.path;
    const file = isNoPage ? NO_PAGE : files.get(asked);
    if (!file) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const message = `${request.path} answers GET and HEAD only.`;
      return next(new MeshError('method_not_allowed', message, { allow: ['GET', 'HEAD'] }));
    }
    const answer = answers.get(file) ?? answerOf(file);
    answers.set(file, answer);
    const { identity, ...packed } = answer.bodies;
    const encoding = request.acceptsEncodings([...Object.keys(packed), 'identity']) || 'identity';
    const body = answer.bodies[encoding as keyof Answer['bodies']] ?? identity;
    response.set(answer.headers);
    if (encoding !== 'identity') response.set('Content-Encoding', encoding);
    if (isNoPage) response.status(404);
    else if (request.fresh) {
      response.status(304).end();
      return;
    }
    response.set('Content-Length', String(body.length));
    response.end(body);
  };
}

/** The address of each page of the documentation, and of its pictures. */
function docsFiles(): (readonly [address: string, file: string])[] {
  const names = readdirSync(path.join(BUILT, DOCS), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => path.extname(name) in TYPES && name !== path.basename(NO_PAGE));
  return [
    [`/${DOCS}`, path.join(BUILT, `${DOCS}.html`)],
    [`/${DOCS}/`, path.join(BUILT, `${DOCS}.html`)],
    ...files.map((name) => [`/${DOCS}/${name.replace('.html', '')}`, path.join(BUILT, DOCS, name)] as const),
  ];
}

function answerOf(file: string): Answer {
  const identity = readFileSync(file);
  const digest = createHash('sha256').update(identity).digest('base64url');
  const type = path.extname(file);
  return {
    headers: {
      'Content-Type': TYPES[type] ?? 'application/octet-stream',
      'Cache-Control': path.basename(path.dirname(file)) === ASSETS ? CACHE.asset : CACHE.page,
      // The same of every encoding, hence weak (RFC 9110, 8.8.1).
      ETag: `W/"${digest}"`,
      Vary: 'Accept-Encoding',
    },
    bodies: PACKED.has(type) ? { identity } : { identity, gzip: gzipSync(identity), br: brotliCompressSync(identity) },
  };
}
