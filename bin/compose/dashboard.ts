import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { RequestHandler } from 'express';
import { MeshError } from '../../core/base/errors.ts';

const WEB = path.join(import.meta.dirname, '..', '..', 'web');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** All there is to ask for. A path is only ever looked up here, never turned into a file's name. */
const FILES = readdirSync(WEB).flatMap((file) => {
  const type = TYPES[path.extname(file)];
  return type === undefined ? [] : [{ route: file === 'index.html' ? '/' : `/${file}`, file, type }];
});

/** Answers the dashboard's page, scripts and style, read once; hands on every other path. */
export function buildDashboard(): RequestHandler {
  const answers = new Map(
    FILES.map(({ route, file, type }) => {
      const body = readFileSync(path.join(WEB, file));
      const digest = createHash('sha256').update(body).digest('base64url');
      const headers = {
        'Content-Type': type,
        'Content-Length': String(body.length),
        // Asked again each time, so that a new version is seen at once; unchanged, it costs a 304.
        'Cache-Control': 'no-cache',
        ETag: `"${digest}"`,
      };
      return [route, { body, headers }];
    }),
  );
  return (request, response, next) => {
    const answer = answers.get(request.path);
    if (!answer) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const message = `${request.path} answers GET and HEAD only.`;
      return next(new MeshError('method_not_allowed', message, { allow: ['GET', 'HEAD'] }));
    }
    response.set(answer.headers);
    if (request.fresh) {
      response.removeHeader('Content-Length');
      response.status(304).end();
      return;
    }
    response.end(answer.body);
  };
}
