import type { RequestHandler } from 'express';
import type { OAuthOptions } from './oauth.ts';

const PREFIXES = ['/oauth/', '/.well-known/oauth-', '/.well-known/openid-configuration'];

/** Serves the paths of OAuth by a server that is loaded with the first request for one. */
export function oauthOnDemand(options: OAuthOptions): RequestHandler {
  let loading: Promise<RequestHandler> | undefined;
  return async (request, response, next) => {
    if (!PREFIXES.some((prefix) => request.path.startsWith(prefix))) return next();
    loading ??= import('./oauth.ts').then(({ buildOAuth }) => buildOAuth(options));
    return (await loading)(request, response, next);
  };
}
