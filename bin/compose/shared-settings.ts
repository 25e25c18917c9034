import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { endProcess } from '../../core/base/end-process.ts';
import type { Clock, Log } from '../../core/base/ports.ts';
import type { Secret } from '../../core/base/secret.ts';
import type { SharedState } from '../../core/base/shared.ts';
import type { BusKeys } from './bus-keys.ts';
import { type Config, ConfigError } from './config.ts';

/** How often a control plane tells its settings and looks at those of the others; what is told lasts for a few rounds. */
const PUBLISH_INTERVAL_MS = 2_000;
const PUBLISHED_LIFE_MS = 10_000;
/**
 * The time after the start in which a conflict ends this process: planes that were cut off from the store at its start are back
 * by then.
 */
const YOUNG_MS = 30_000;

/** By their names, each as a digest: nobody who reads the database learns a value. */
export type Digests = Readonly<Record<string, string>>;

/** Settings that must not differ, because nodes would be cut off or history would be lost. */
const BUS_SETTING = 'MESH_BUS_URL (set or not)';
const REFUSED = ['MESH_EDITION', 'MESH_SIGNALING_AUTH', BUS_SETTING, 'MESH_BUS_KEYS_FILE', 'MESH_LRP_AUTH_TOKEN'];

/** Settings in which control planes of one installation should not differ, as they are in effect. */
export function sharedSettings(
  { env, app }: Config,
  { relayToken, busKeys }: { readonly relayToken: Secret; readonly busKeys: BusKeys | undefined },
  key: Secret,
): Digests {
  const values: Readonly<Record<string, unknown>> = {
    MESH_EDITION: env.MESH_EDITION,
    MESH_SIGNALING_AUTH: env.MESH_SIGNALING_AUTH,
    [BUS_SETTING]: env.MESH_BUS_URL !== undefined,
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
    'app.oauth': {
      ...app.oauth,
      identityAssertions: app.oauth.identityAssertions?.clients.map(({ id, secret }) => [id, secret?.reveal()]),
    },
    'app.oidc': app.oidc.map(({ clientSecret, scim, ...rest }) => ({
      ...rest,
      clientSecret: clientSecret?.reveal(),
      scim: scim && { ...scim, token: scim.token?.reveal() },
    })),
    // Their files are of each host.
    'app.kubernetes': app.kubernetes.map(({ name, server }) => ({ name, server })),
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
  /** Returns the live control planes, including this one. */
  readonly planes: () => Promise<readonly string[]>;
}

/** Names of settings, by the control planes that have others there. */
export type Differences = ReadonlyMap<string, readonly string[]>;

/** Where those that live differ from this one, each with an entry. Nothing is told. */
export async function differencesFrom({ self, settings, cells, planes }: SettingsParts): Promise<Differences> {
  const others = (await planes()).filter((plane) => plane !== self);
  const told = await publishedSettings(cells).read(others);
  return new Map([...told].map(([plane, { value }]) => [plane, differences(settings, value)]));
}

/** Before the others can see this one: they notice nothing of one that is refused. @throws ConfigError as `shareSettings` */
export async function requireSettings(parts: SettingsParts): Promise<void> {
  const refused = refusals(await differencesFrom(parts));
  if (refused.length > 0) throw new ConfigError(refused);
}

/** Returns sentences on differences in settings that must not differ. */
export function refusals(different: Differences): string[] {
  return REFUSED.flatMap((name) => {
    const planes = [...different].flatMap(([plane, names]) => (names.includes(name) ? [plane] : []));
    if (planes.length === 0) return [];
    const [who, those] =
      planes.length === 1
        ? [`the control plane ${planes[0]}, which is`, 'that one']
        : [`the control planes ${planes.join(' and ')}, which are`, 'those'];
    return `${name}: is not as at ${who} at work on the same database: give all of them the same, or end ${those} first (docs/cluster.md)`;
  });
}

/** Returns the differences in words. */
export function differencesText(different: Differences): string {
  return [...different]
    .flatMap(([plane, names]) => (names.length > 0 ? `${names.join(', ')} (${plane})` : []))
    .join('; ');
}

interface SharingParts extends SettingsParts {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /**
   * Called where a live control plane that was not seen at the start differs in a setting that must not differ. By default the
   * process ends.
   */
  readonly onRefused?: (error: Error) => void;
}

/**
 * Tells the other control planes with which settings this one works, and looks at theirs.
 *
 * @returns what is different, as long as it is
 * @throws ConfigError where one that lives differs in what must not be different
 */
export async function shareSettings({ clock, log, onRefused = endProcess, ...parts }: SharingParts) {
  const { self, settings } = parts;
  const told = publishedSettings(parts.cells);
  const startedAt = performance.now();
  let found = '';
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function look(): Promise<Differences> {
    await told.change(self, () => ({
      cell: { value: settings, expiresAt: clock.now() + PUBLISHED_LIFE_MS },
      result: undefined,
    }));
    return differencesFrom(parts);
  }

  function tell(different: Differences): void {
    const before = found;
    found = differencesText(different);
    if (found !== '' && found !== before) log.warn({ settings: found }, 'another control plane has other settings');
    const refused = performance.now() - startedAt < YOUNG_MS ? refusals(different) : [];
    if (refused.length > 0 && !isStopped) onRefused(new ConfigError(refused));
  }

  const leave = () => told.change(self, () => ({ cell: undefined, result: undefined }));
  const different = await look();
  const refused = refusals(different);
  if (refused.length > 0) {
    await leave();
    throw new ConfigError(refused);
  }
  tell(different);
  const again = () => {
    timer = setTimeout(() => {
      // A failed look is tried again; readiness reports the state of the store itself.
      look()
        .then(tell, () => undefined)
        .finally(again);
    }, PUBLISH_INTERVAL_MS).unref();
  };
  again();

  return {
    /** Undefined where all have the same. */
    problem: () => (found === '' ? undefined : `Another control plane has other settings: ${found}.`),
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await leave().catch(() => undefined);
    },
  };
}

function publishedSettings(cells: SharedState['cells']) {
  const schema = z.record(z.string(), z.string());
  return cells<Digests>('plane-settings', (value) => schema.safeParse(value).data);
}

/** Names that one of another version does not tell are not compared. */
function differences(own: Digests, other: Digests): string[] {
  return Object.keys(own).filter((name) => other[name] !== undefined && other[name] !== own[name]);
}
