import type { ServerResponse } from 'node:http';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { Caller } from '../core/base/caller.ts';
import { MeshError, type Problem, toProblem } from '../core/base/errors.ts';
import { type Quotas, quotaKeysOf } from '../core/base/quotas.ts';
import type { AccessWatch } from '../core/call/access-watch.ts';
import { endWithToken, lastingCaller } from './end-with-token.ts';
import { endableBody } from './endable-body.ts';
import { sendRpcError } from './refusal.ts';
import { type Resources, workspaceOf } from './resources.ts';
import { MAX_WATCHED } from './shared-sessions.ts';
import type { McpOptions, Principal } from './surface.ts';
import { type AuthenticatedRequest, serveFetch } from './web-exchange.ts';

export interface SubscriptionsOptions {
  readonly clock: McpOptions['gate']['services']['clock'];
  readonly handler: Pick<McpHttpHandler, 'fetch'>;
  readonly resources: Pick<Resources, 'mayWatch'>;
  readonly access: Pick<AccessWatch, 'add'>;
  readonly shares: Pick<Quotas, 'take'>;
}

interface ListenRequest {
  readonly method?: unknown;
  readonly id?: string | number;
  readonly params?: { readonly notifications?: { readonly resourceSubscriptions?: unknown } };
}

export function isListening(body: unknown): boolean {
  return (body as ListenRequest | null)?.method === 'subscriptions/listen';
}

/**
 * Answers `subscriptions/listen` of the current revision: within a share, and until the right to one of its resources
 * is gone, which it is told as the answer to its request.
 *
 * @throws MeshError `rate_limited`
 */
export function buildSubscriptions({ clock, handler, resources, access, shares }: SubscriptionsOptions) {
  async function mayWatchAll(uris: readonly string[], principal: Principal): Promise<boolean> {
    for (const uri of uris) if (!(await resources.mayWatch(uri, principal))) return false;
    return true;
  }

  return async (request: AuthenticatedRequest, response: ServerResponse, body: unknown, principal: Principal) => {
    const { id = null, params } = body as ListenRequest;
    const uris = watchedUris(params);
    if (uris.length > MAX_WATCHED) {
      sendRpcError(response, 200, -32_602, `Watch at most ${MAX_WATCHED} resources in one subscription.`, id);
      return;
    }
    if (!(await mayWatchAll(uris, principal))) {
      sendRpcError(response, 200, -32_602, notOwn().message, id);
      return;
    }
    const workspaces = uris.flatMap((uri) => workspaceOf(uri) ?? []);
    response.once('close', shares.take(quotaKeysOf(principal.caller, workspaces)));

    let ended: string | undefined;
    let endBody: (last: string) => void = () => undefined;
    const end = (reason: MeshError) => {
      ended ??= lastEvent(id, toProblem(reason));
      endBody(ended);
      if (response.writableNeedDrain) response.destroy();
    };
    const check = async (caller: Caller) => {
      if (!(await mayWatchAll(uris, { ...principal, caller }))) throw notOwn();
    };
    const bearer = request.auth?.token ?? '';
    const { caller, origin } = principal;
    response.once('close', access.add({ bearer, origin, again: caller.again, check, end }));
    endWithToken(response, await lastingCaller(caller), clock, end);
    const fetch: typeof handler.fetch = async (...call) => {
      const answer = await handler.fetch(...call);
      if (!answer.body) return answer;
      const endable = endableBody(answer.body);
      endBody = endable.end;
      if (ended !== undefined) endBody(ended);
      return new Response(endable.body, answer);
    };
    await serveFetch(fetch, request, response, body);
  };
}

function watchedUris(params: ListenRequest['params']): readonly string[] {
  const uris = params?.notifications?.resourceSubscriptions;
  return Array.isArray(uris) ? uris.map(String) : [];
}

function notOwn(): MeshError {
  return new MeshError('forbidden', 'You may watch resources of your own workspaces only.');
}

/** The answer that ends a subscription, as an event of its stream. */
function lastEvent(id: string | number | null, problem: Problem): string {
  const error = { code: -32_000, message: problem.detail, data: problem };
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`;
}
