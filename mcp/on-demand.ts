import type { McpEndpoint, McpHttpOptions } from './http.ts';

/** Serves /mcp by an endpoint that is loaded with the first request: the SDK takes 10 MB, and a tenth of the start. */
export function mcpOnDemand(options: McpHttpOptions): Pick<McpEndpoint, 'handle' | 'sessionCount' | 'leave' | 'close'> {
  let endpoint: McpEndpoint | undefined;
  let loading: Promise<McpEndpoint> | undefined;
  let isLeaving = false;
  const load = async () => {
    const { buildMcp } = await import('./http.ts');
    endpoint = buildMcp(options);
    if (isLeaving) endpoint.leave();
    return endpoint;
  };
  return {
    async handle(request, response) {
      loading ??= load();
      await (await loading).handle(request, response);
    },
    sessionCount: () => endpoint?.sessionCount() ?? 0,
    leave() {
      isLeaving = true;
      endpoint?.leave();
    },
    async close() {
      await (await loading)?.close();
    },
  };
}
