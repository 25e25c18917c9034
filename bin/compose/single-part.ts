import type { Log } from '../../core/base/ports.ts';
import type { HostPort } from '../../net/host-port.ts';
import type { Config, Variables } from './config.ts';
import { systemClock } from './guard-clock.ts';
import { servePartHealth } from './part-health.ts';
import { readTls } from './tls.ts';
import { orExplain, type RunningListener, startBus, startRelay, startStun } from './wire-parts.ts';

/** The parts that can run without a control plane, on a machine of their own. */
export const PARTS = ['bus', 'relay', 'stun'] as const;
export type Part = (typeof PARTS)[number];

const LISTENS = { bus: 'MESH_BUS_LISTEN', relay: 'MESH_RELAY_LISTEN', stun: 'MESH_STUN_LISTEN' } as const;

/** Returns the problems of a part: settings that it lacks, or that need a control plane. */
export function partProblems(part: Part, given: Variables): string[] {
  const isToken = part === 'bus' && given['MESH_SIGNALING_AUTH'] === 'token';
  const lacksToken = part === 'relay' && given['MESH_LRP_AUTH_TOKEN'] === undefined;
  return [
    ...(given[LISTENS[part]] === 'off' ? [`${LISTENS[part]}: is off; set it to <host>:<port>`] : []),
    ...(isToken ? ['MESH_SIGNALING_AUTH: token needs the bus inside meshd --standalone, which knows nodes'] : []),
    ...(lacksToken ? ['MESH_LRP_AUTH_TOKEN: set it to the shared token of the control plane'] : []),
  ];
}

/**
 * Starts one part alone, whose configuration has no `partProblems`. A relay checks credentials offline, with the token it
 * shares with the control plane.
 *
 * @throws Error naming the variable and the address that cannot be listened on
 */
export async function startSinglePart(part: Part, { env }: Config, log: Log): Promise<RunningListener> {
  const variable = LISTENS[part];
  const address = env[variable];
  if (address === 'off') throw new TypeError(`${variable} is off`);
  const clock = systemClock();
  const tls = readTls(env);
  const secured = tls === undefined ? {} : { tls };
  const start = (): Promise<RunningListener> => {
    switch (part) {
      case 'bus':
        return startBus({ ...address, auth: 'open', ...secured }, log);
      case 'relay': {
        const token = env.MESH_LRP_AUTH_TOKEN?.reveal();
        if (token === undefined) throw new TypeError('MESH_LRP_AUTH_TOKEN is not set');
        const limits = { maxSessions: env.MESH_RELAY_SESSIONS };
        return startRelay({ ...address, ...secured, token, clock, log, limits });
      }
      case 'stun':
        return startStun({ ...address, clock, log, ratePerSecond: env.MESH_STUN_RATE });
    }
  };
  const running = await orExplain(variable, address, start());
  log.info({ part, ...running.address }, 'listening');
  return env.MESH_HEALTH_LISTEN === 'off' ? running : withHealth(running, env.MESH_HEALTH_LISTEN, log);
}

/** Its health is told from its start until it has ended. */
async function withHealth(running: RunningListener, place: HostPort, log: Log): Promise<RunningListener> {
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
