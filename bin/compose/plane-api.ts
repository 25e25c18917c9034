import type { ServiceGate } from '../../core/call/gate.ts';
import { mcpOnDemand } from '../../mcp/on-demand.ts';
import type { ComputePool } from '../../plane/compute/pool.ts';
import type { Leadership } from '../../plane/leadership.ts';
import { buildFetchDocument } from '../../plane/outgoing/document.ts';
import { buildApp } from '../../rest/app.ts';
import { type HttpListener, listen } from '../../rest/listen.ts';
import { oauthOnDemand } from '../../rest/oauth/on-demand.ts';
import { scimOnDemand } from '../../rest/scim/on-demand.ts';
import { shareWindows } from '../../rest/shared-windows.ts';
import { sharedAddresses } from '../../rest/trusted-proxies.ts';
import { operations } from '../../tools/index.ts';
import { MCP_TOOLS } from '../../tools/surfaces.ts';
import { isAnyAddress } from './configured-addresses.ts';
import { buildDashboard } from './dashboard.ts';
import { buildHostUsers } from './host-users.ts';
import { directoriesOf } from './issuer-config.ts';
import { assertionClientsOf } from './oauth-config.ts';
import { ownNames } from './own-names.ts';
import type { Parts } from './parts.ts';
import { readinessMetrics, toolCalls } from './plane-metrics.ts';
import type { CommonNeeds } from './plane-services.ts';
import { buildReadiness, type ReadinessParts } from './readiness.ts';
import type { Tls } from './tls.ts';
import { readViews } from './views.ts';
import { orExplain } from './wire-parts.ts';

/** Requests under way have so long to be answered; then what is computed ends, and after a moment every connection. */
const DRAIN_MS = 3_000;
const CUT_MS = 500;

interface ApiNeeds extends Pick<CommonNeeds, 'config' | 'shared' | 'log' | 'metrics'> {
  readonly tls: Tls | undefined;
  readonly gate: ServiceGate;
  readonly compute: ComputePool | undefined;
  readonly leadership: Leadership;
  readonly readiness: Omit<ReadinessParts, 'isUp'>;
  readonly onConnection: () => void;
}

/**
 * Starts the API with MCP and the dashboard, last of all: who connects is served at once.
 *
 * @throws Error naming the address that cannot be listened on
 */
export async function startApi(parts: Parts, needs: ApiNeeds) {
  const { config, tls, gate, compute, leadership, shared, readiness, onConnection, log, metrics } = needs;
  const { env, app: settings } = config;
  const hosts = ownNames(config, tls);
  const surface = { operations, tools: MCP_TOOLS, views: readViews(), gate, log, hosts, observe: toolCalls(metrics) };
  const mcp = mcpOnDemand({ ...surface, shared });
  parts.onStop('MCP', () => mcp.close());
  metrics.gauge('mesh_mcp_sessions', 'Sessions of MCP clients of the 2025 revision', mcp.sessionCount);
  let isUp = false;
  const ready = buildReadiness({ ...readiness, isUp: () => isUp });
  readinessMetrics(metrics, ready);
  const windows = shared && parts.use('shared rate limits', shareWindows(shared.counts, readiness.clock, log));
  const trustProxy = settings.trustProxy === false ? undefined : settings.trustProxy;
  const stopping = new AbortController();
  const app = buildApp({
    operations,
    gate,
    log,
    metrics,
    ready,
    stopping: stopping.signal,
    mcp: (request, response) => void mcp.handle(request, response),
    oauth: oauthOnDemand({
      services: gate.services,
      log,
      registration: settings.oauth.registration,
      fetchDocument: buildFetchDocument({ allow: settings.oauth.allow }),
      assertionClients: assertionClientsOf(settings.oauth),
    }),
    scim: scimOnDemand({ services: gate.services, log, directories: directoriesOf(settings.oidc) }),
    dashboard: buildDashboard(),
    limits: { rate: { perMinute: settings.rateLimit, together: windows } },
    hosts,
    metricsAccess: settings.metrics,
    isHostUser: buildHostUsers(),
    ...(trustProxy !== undefined && { trustProxy }),
  });
  const place = { ...env.MESH_LISTEN, ...(tls && { tls }), isShared: sharedAddresses(trustProxy), onConnection };
  const api = await orExplain('MESH_LISTEN', env.MESH_LISTEN, listen(app, place));
  parts.onStop('API', () => api.stop(CUT_MS));
  // Before what is left of the API: requests under way would wait for what is computed.
  parts.onStop('computing threads', () => compute?.stop());
  parts.onStop('requests under way', async () => {
    isUp = false;
    stopping.abort();
    mcp.leave();
    // At once, so that other control planes go on with what this one led.
    await Promise.all([api.drain(DRAIN_MS), leadership.stop()]);
  });
  isUp = true;
  return { url: localUrl(api), port: api.port };
}

function localUrl({ url, port }: HttpListener): string {
  const { protocol, hostname } = new URL(url);
  return isAnyAddress(hostname.replaceAll(/[[\]]/g, '')) ? `${protocol}//127.0.0.1:${port}` : url;
}
