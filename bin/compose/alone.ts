import type { Log } from '../../core/base/ports.ts';
import type { HostPort } from '../../net/host-port.ts';
import { type Config, ConfigError } from './config.ts';
import { systemClock } from './guard-clock.ts';
import { servePartHealth } from './part-health.ts';
import { readTls } from './tls.ts';
import { orExplain, type Running, startBus, startRelay, startStun } from './wire-parts.ts';

/** What can run without a control plane, for a machine that carries only this. */
export const PARTS = ['bus', 'relay', 'stun'] as const;
export type Part = (typeof PARTS)[number];

/**
 * Starts one part alone. A relay checks credentials offline, with the token it shares with the control plane.
 *
 * @throws ConfigError for a part that is off or lacks what it needs.
 */
export async function startAlone(part: Part, { env }: Config, log: Log): Promise<Running> {
  const variable = { bus: 'MESH_BUS_LISTEN', relay: 'MESH_RELAY_LISTEN', stun: 'MESH_STUN_LISTEN' } as const;
  const address = env[variable[part]];
  if (address === 'off') throw new ConfigError([`${variable[part]}: is off; set it to <host>:<port>`]);
  const clock = systemClock();
  const tls = readTls(env);
  const secured = tls === undefined ? {} : { tls };
  const start = (): Promise<Running> => {
    switch (part) {
      case 'bus': {
        if (env.MESH_SIGNALING_AUTH === 'token') {
          throw new ConfigError([
            'MESH_SIGNALING_AUTH: token needs the bus inside meshd --standalone, which knows nodes',
          ]);
        }
        return startBus({ ...address, auth: 'open', ...secured }, log);
      }
      case 'relay': {
        const token = env.MESH_LRP_AUTH_TOKEN?.reveal();
        if (token === undefined) {
          throw new ConfigError(['MESH_LRP_AUTH_TOKEN: set it to the shared token of the control plane']);
        }
        const limits = { maxSessions: env.MESH_RELAY_SESSIONS };
        return startRelay({ ...address, ...secured, token, clock, log, limits });
      }
      case 'stun':
        return startStun({ ...address, clock, log, ratePerSecond: env.MESH_STUN_RATE });
    }
  };
  const running = await orExplain(variable[part], address, start());
  log.info({ part, ...running.address }, 'listening');
  return env.MESH_HEALTH_LISTEN === 'off' ? running : withHealth(running, env.MESH_HEALTH_LISTEN, log);
}

/** Its health is told from its start until it has ended. */
async function withHealth(running: Running, place: HostPort, log: Log): Promise<Running> {
  const health = await orExplain('MESH_HEALTH_LISTEN', place, servePartHealth(place, running)).catch(
    async (error: unknown) => {
      await running.stop();
      throw error;
    },
  );
  log.info(health.address, 'health and metrics are served');
  return {
    ...running,
    async stop() {
      health.ending();
      await running.stop();
      await health.stop();
    },
  };
}
