import type { RequestHandler } from 'express';
import { SCIM_PATH, type ScimOptions } from './paths.ts';

/** Serves the paths of SCIM by a server that is loaded with the first request for one; without directories there are none. */
export function scimOnDemand(options: ScimOptions): RequestHandler {
  let loading: Promise<RequestHandler> | undefined;
  return async (request, response, next) => {
    if (options.directories.length === 0 || !request.path.startsWith(`${SCIM_PATH}/`)) return next();
    loading ??= import('./scim.ts').then(({ buildScim }) => buildScim(options));
    return (await loading)(request, response, next);
  };
}
