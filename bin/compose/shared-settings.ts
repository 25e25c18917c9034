import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Clock, Log } from '../../core/base/ports.ts';
import type { Secret } from '../../core/base/secret.ts';
import type { SharedState } from '../../core/base/shared.ts';
import type { BusKeys } from './bus-keys.ts';
import { type Config, ConfigError } from './config.ts';

/** How often a control plane tells its settings and looks at those of the others; what is told lasts for a few rounds. */
const TELL_MS = 2_000;
const KEPT_MS = 10_000;

/** By their names, each as a digest: nobody who reads the database learns a value. */
export type Digests = Readonly<Record<string, string>>;

/** What nodes are let in by and what is kept: with two of them beside each other nodes are cut off, or history is lost. */
const WHETHER_BUS = 'MESH_BUS_URL (set or not)';
const REFUSED = ['MESH_EDITION', 'MESH_SIGNALING_AUTH', WHETHER_BUS, 'MESH_BUS_KEYS_FILE', 'MESH_LRP_AUTH_TOKEN'];

/** Settings in which control planes of one installation should not differ, as they are in effect. */
export function sharedSettings(
  { env, app }: Config,
  { relayToken, busKeys }: { readonly relayToken: Secret; readonly busKeys: BusKeys | undefined },
  key: Secret,
): Digests {
  const values: Readonly<Record<string, unknown>> = {
    MESH_EDITION: env.MESH_EDITION,
    MESH_SIGNALING_AUTH: env.MESH_SIGNALING_AUTH,
    [WHETHER_BUS]: env.MESH_BUS_URL !== undefined,
    MESH_BUS_KEYS_FILE: busKeys?.account,
    MESH_LRP_AUTH_TOKEN: relayToken.reveal(),
    MESH_REGISTRATION_PROOF: env.MESH_REGISTRATION_PROOF,
    MESH_SIGNALING_URL: env.MESH_SIGNALING_URL,
    MESH_RELAY_ADVERTISE_URL: env.MESH_RELAY_ADVERTISE_URL,
    MESH_RELAY_URL: env.MESH_RELAY_URL,
    MESH_STUN_URL: env.MESH_STUN_URL,
    MESH_LLM_BASE_URL: env.MESH_LLM_BASE_URL,
    MESH_LLM_MODEL: env.MESH_LLM_MODEL,
    MESH_WEBHOOK_ALLOW: env.MESH_WEBHOOK_ALLOW ?? app.webhooks.allow,
    'app.planTtl': app.planTtl,
    'app.publicUrls': app.publicUrls,
    'app.rateLimit': app.rateLimit,
    'app.relays': app.relays,
    'app.signIn': app.signIn,
    'app.stun': app.stun,
  };
  const digest = (name: string) =>
    createHmac('sha256', key.reveal())
      .update(JSON.stringify([name, values[name]]))
      .digest('base64url');
  return Object.fromEntries(Object.keys(values).map((name) => [name, digest(name)]));
}

export interface SettingsParts {
  /** By which the others know this control plane. */
  readonly self: string;
  readonly settings: Digests;
  readonly cells: SharedState['cells'];
  /** Those that live, this one too. */
  readonly planes: () => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Tells the other control planes with which settings this one works, and looks at theirs.
 *
 * @returns what is different, as long as it is
 * @throws ConfigError where one that lives differs in what must not be different
 */
export async function shareSettings({ self, settings, cells, planes, clock, log }: SettingsParts) {
  const schema = z.record(z.string(), z.string());
  const told = cells<Digests>('plane-settings', (value) => schema.safeParse(value).data);
  let found = '';
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<Map<string, readonly string[]>> {
    await told.change(self, () => ({
      cell: { value: settings, expiresAt: clock.now() + KEPT_MS },
      result: undefined,
    }));
    const others = (await planes()).filter((plane) => plane !== self);
    const cellsOf = await told.read(others);
    return new Map([...cellsOf].map(([plane, { value }]) => [plane, differences(settings, value)]));
  }

  const leave = () => told.change(self, () => ({ cell: undefined, result: undefined }));
  const different = await look();
  const refused = [...different].flatMap(([plane, names]) =>
    names.filter((name) => REFUSED.includes(name)).map((name) => refusal(name, plane)),
  );
  if (refused.length > 0) {
    await leave();
    throw new ConfigError(refused);
  }
  tell(different);
  const again = () => {
    timer = setTimeout(() => {
      // What the store does not answer it is asked again; readiness tells of the store itself.
      look()
        .then(tell, () => undefined)
        .finally(again);
    }, TELL_MS).unref();
  };
  again();

  function tell(now: ReadonlyMap<string, readonly string[]>): void {
    const before = found;
    found = [...now].flatMap(([plane, names]) => (names.length > 0 ? `${names.join(', ')} (${plane})` : [])).join('; ');
    if (found !== '' && found !== before) log.warn({ settings: found }, 'another control plane has other settings');
  }

  return {
    /** Undefined where all have the same. */
    problem: () => (found === '' ? undefined : `Another control plane has other settings: ${found}.`),
    async stop(): Promise<void> {
      clearTimeout(timer);
      await leave().catch(() => undefined);
    },
  };
}

/** Names that one of another version does not tell are not compared. */
function differences(own: Digests, other: Digests): string[] {
  return Object.keys(own).filter((name) => other[name] !== undefined && other[name] !== own[name]);
}

function refusal(name: string, plane: string): string {
  return `${name}: is not as at the control plane ${plane}, which is at work on the same database: give all of them the same, or end that one first (docs/cluster.md)`;
}
