import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { COMMAND_VARIABLES } from '../../core/base/command-variables.ts';
import { parseDuration } from '../../core/base/duration.ts';
import { fieldErrorsOf, PLAINLY } from '../../core/base/schema-errors.ts';
import { Secret } from '../../core/base/secret.ts';
import { unreadable } from '../../core/base/unreadable.ts';
import { USERNAME_PATTERN, USERNAME_RULE } from '../../core/identity/accounts.ts';
import { PASSWORD_LENGTH } from '../../core/identity/passwords.ts';
import { MAIN_RELAY } from '../../core/model/graph.ts';
import { SIGN_IN_DEFAULTS, type SignInRules } from '../../core/model/sign-in-rules.ts';
import { LLM_MODES } from '../../llm/model/openai/dialect.ts';
import { type HostPort, parseHostPort } from '../../net/host-port.ts';
import { parseRelayAddress } from '../../net/relay/address.ts';
import { RELAY_LIMITS } from '../../net/relay/limits.ts';
import { PLATFORM_CHOICES } from '../../platform/choice.ts';
import { closeToOthers } from '../../storage/file-mode.ts';
import { STORE_URL } from '../../storage/open.ts';
import { parseYaml } from '../../tools/yaml.ts';
import { BUS_FILES, busProblems, busVariables } from './bus-environment.ts';
import { checkClusterFiles, clustersSchema } from './cluster-config.ts';
import { issuersSchema, withClientSecrets } from './issuer-config.ts';
import { allowEntry, missingForIssuer, oauthSchema, withAssertionSecrets } from './oauth-config.ts';
import { unknownVariable } from './unknown-variable.ts';

const listen = z.string().transform((text, context): HostPort => {
  const parsed = parseHostPort(text);
  if (parsed) return parsed;
  context.addIssue({ code: 'custom', message: `must have the form <host>:<port>, got "${text}"` });
  return z.NEVER;
});
const listenOrOff = z.union([z.literal('off'), listen], { error: 'must have the form <host>:<port>, or be "off"' });
const address = z.string().refine((text) => (parseHostPort(text)?.port ?? 0) > 0, 'must have the form <host>:<port>');
const relayAddress = z
  .string()
  .refine(isRelayAddress, 'must have the form <host>:<port>, or lrps://<host>:<port> for a relay with TLS');
const filePath = z.string().min(1);

/** A graph holds 8 relays and 8 STUN servers, one of each by the environment. */
const MAX_LISTED = 7;

/** Relays beside the one of the environment, or that one with a name of its own (docs/relays.md). */
const relays = z
  .array(
    z.strictObject({
      name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be up to 32 small letters, digits and hyphens'),
      url: relayAddress,
      region: z.string().min(1).max(63).optional(),
      capacity: z.int().min(1).max(1_000_000).optional(),
    }),
  )
  .max(MAX_LISTED)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have a name each')
  .refine((all) => new Set(all.map(({ url }) => hostAndPortOf(url))).size === all.length, 'must have an address each')
  .refine((all) => all.every(({ name }) => name !== MAIN_RELAY), `must not be called ${MAIN_RELAY}`);

/** Host and port, whatever is said of TLS. */
function hostAndPortOf(url: string): string {
  const { host, port } = parseRelayAddress(url) ?? {};
  return `${host}:${port}`;
}

const duration = z.string().transform((text, context): number => {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: 'custom', message: 'must be a duration such as 10m or 24h' });
  return z.NEVER;
});

/** Every environment variable, its meaning and its default (docs/configuration.md). */
export const environment = z.object({
  MESH_LISTEN: listen.prefault('0.0.0.0:18090').describe('API, MCP and dashboard listen address, <host>:<port>'),
  MESH_SIGNALING_URL: z
    .string()
    .refine(isNatsUrl, 'must have the form nats://<host>:<port>, or tls://<host>:<port> for a bus with TLS')
    .optional()
    .describe(
      'NATS address given to nodes, nats://<host>:<port>, or tls://<host>:<port> where there has to be TLS; when unset ' +
        'nats://127.0.0.1:4222, with MESH_TLS_CERT tls://127.0.0.1:4222',
    ),
  MESH_RELAY_ADVERTISE_URL: relayAddress
    .optional()
    .describe(
      'Relay address given to nodes, <host>:<port>; when unset 127.0.0.1:6266, or MESH_RELAY_URL with MESH_RELAY_LISTEN=off',
    ),
  MESH_RELAY_URL: relayAddress
    .optional()
    .describe(
      'Relay elsewhere that the control plane tells of revocations, <host>:<port>; lrps://<host>:<port> with TLS',
    ),
  MESH_RELAY_SESSIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(RELAY_LIMITS.maxSessions)
    .describe('Nodes that the relay of this process serves at once; further ones are refused and go to another relay'),
  MESH_HEALTH_LISTEN: listenOrOff
    .prefault('off')
    .describe('Listen address of /healthz, /readyz and /metrics of a bus, relay or STUN server alone, or off'),
  MESH_STUN_URL: address.default('127.0.0.1:3478').describe('STUN address given to nodes, <host>:<port>'),
  MESH_LRP_AUTH_TOKEN: secret(1)
    .optional()
    .describe(
      'Shared relay token, at least 16 characters; generated at first start and kept in credentials.json when unset',
    ),
  MESH_BUS_LISTEN: listenOrOff.prefault('0.0.0.0:4222').describe('Listen address of the embedded bus, or off'),
  ...busVariables,
  MESH_RELAY_LISTEN: listenOrOff.prefault('0.0.0.0:6266').describe('Listen address of the relay, or off'),
  MESH_STUN_LISTEN: listenOrOff.prefault('0.0.0.0:3478').describe('Listen address of the STUN server (udp), or off'),
  MESH_STUN_RATE: z.coerce
    .number()
    .int()
    .min(1, 'must be 1 to 10000000')
    .max(10_000_000, 'must be 1 to 10000000')
    .default(100)
    .describe('STUN answers a second for one source'),
  MESH_SIGNALING_AUTH: z
    .enum(['none', 'token'])
    .default('none')
    .describe('Whether nodes need a credential on the bus: none, or token; they send it over TLS, see MESH_TLS_CERT'),
  MESH_REGISTRATION_PROOF: z
    .enum(['optional', 'required'])
    .default('optional')
    .describe(
      'Whether a device must prove its private key when it registers; optional takes one without proof for a key that nobody holds',
    ),
  MESH_EDITION: z.enum(['pro', 'community']).default('pro').describe('Edition: pro or community'),
  MESH_STORE_URL: z
    .string()
    .refine(STORE_URL.isKnown, STORE_URL.rule)
    .optional()
    .describe(`${STORE_URL.forms}; mesh.db in the configuration directory when unset`),
  MESH_STORE_RESERVE: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(64)
    .describe(
      'MB kept free on the disk of the store: below it new records are refused (storage_full), while deleting, revoking and the login of administrators work',
    ),
  MESH_KEYS_FILE: filePath
    .optional()
    .describe(
      'File with the keys of control planes that share a store: the same for each, made once by meshd keys, never written by them. Without it a control plane keeps keys of its own in credentials.json',
    ),
  MESH_TLS_CERT: filePath
    .optional()
    .describe('PEM file with the certificate chain; with MESH_TLS_KEY the API, the bus and the relay speak TLS'),
  MESH_TLS_KEY: filePath.optional().describe('PEM file with the private key of MESH_TLS_CERT'),
  MESH_LLM_BASE_URL: z
    .url('must be a URL')
    .optional()
    .describe('OpenAI-compatible server; the built-in planner works without'),
  MESH_LLM_API_KEY: z
    .string()
    .transform((text) => new Secret(text))
    .optional()
    .describe('Key for MESH_LLM_BASE_URL'),
  MESH_LLM_MODEL: z.string().min(1).optional().describe('Model name at MESH_LLM_BASE_URL'),
  MESH_LLM_MODE: z
    .enum(['auto', ...LLM_MODES], { error: `must be auto, ${LLM_MODES.join(', ')}` })
    .default('auto')
    .describe('How the model is made to answer in a form: json_schema, tool, json_object, or auto to find out'),
  MESH_LLM_TIMEOUT: durationBetween('1ms', '1d').prefault('30s').describe('Longest time for one request to the model'),
  MESH_LLM_NARRATION: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Whether the model words what /api/v1/ai/debug finds, where one is configured: it is sent who changed what and why, see docs/models.md',
    ),
  MESH_PLATFORM: z
    .enum(PLATFORM_CHOICES)
    .default('auto')
    .describe('plain works without what Node itself does not offer; see docs/platform.md. Of `mesh` too'),
  MESH_WEBHOOK_ALLOW: z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .pipe(z.array(allowEntry))
    .optional()
    .describe(
      'Hosts, addresses and CIDRs that are not on the internet and webhooks may be sent to all the same, with commas between; in place of app.webhooks.allow',
    ),
  MESH_SUPERVISED: z
    .stringbool({ error: 'must be true or false' })
    .optional()
    .describe(
      'Whether something starts meshd again when it ends: then it ends by itself after a stall of 20 s. When unset, true below systemd',
    ),
  MESH_LOG_LEVEL: z
    .enum(['error', 'warn', 'info', 'debug', 'trace'])
    .default('info')
    .describe('Least severe line logged'),
});

/** Whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. */
const trustProxy = z.union(
  [
    z.boolean(),
    z.int().min(1),
    z.array(z.string().refine(isProxy, 'must be an address or a network such as 10.0.0.0/8')).min(1),
  ],
  {
    error: 'must be true, a number of proxies, or a list of addresses and networks of proxies',
  },
);

/** The access to /metrics. */
const metricsAccess = z.union([z.enum(['open', 'local', 'off']), z.strictObject({ token: secret(16) })], {
  error: 'must be open, local, off, or { token: <at least 16 characters> }',
});

/** A duration within bounds, which the message names. */
function durationBetween(least: string, most: string) {
  const [min = 0, max = 0] = [parseDuration(least), parseDuration(most)];
  return duration.refine((ms) => ms >= min && ms <= max, `must be from ${least} to ${most}`);
}

const MAX_BACKUPS = 365;

/** How often the database is backed up, and how many backups are kept. */
const backups = z.union(
  [
    z.literal('off'),
    z.strictObject({
      every: durationBetween('1h', '30d').prefault('24h'),
      keep: z.int().min(1).max(MAX_BACKUPS).default(7),
    }),
  ],
  { error: 'must be off, or { every: <duration from 1h to 30d>, keep: <1 to 365> }' },
);

/** How people sign in. */
const signIn = z
  .strictObject({
    secondFactor: z
      .enum(['optional', 'administrators'], { error: 'must be optional or administrators' })
      .default(SIGN_IN_DEFAULTS.secondFactor),
    passwordLength: z.int().min(PASSWORD_LENGTH.min).max(64).default(SIGN_IN_DEFAULTS.passwordLength),
    passwordHistory: z.int().min(1).max(24).default(SIGN_IN_DEFAULTS.passwordHistory),
    passwordMaxAge: durationBetween('1d', '3650d').optional(),
    idleTimeout: durationBetween('1m', '12h').optional(),
    lockAfter: z.int().min(3).max(100).default(SIGN_IN_DEFAULTS.lockAfter),
    lockFor: durationBetween('1m', '24h').prefault('30m'),
    /** With issuers: the one account that a password lets in, and on the host alone. */
    onlyLocalAccount: z.string().trim().toLowerCase().min(1).max(63).optional(),
  })
  .transform(
    ({ passwordMaxAge, idleTimeout, lockFor, onlyLocalAccount, ...rest }): SignInRules => ({
      ...rest,
      passwordMaxAgeMs: passwordMaxAge,
      idleMs: idleTimeout,
      lockMs: lockFor,
      onlyLocalAccount,
    }),
  );

/** `config.yaml` in the configuration directory. */
export const file = z.strictObject({
  app: z
    .strictObject({
      initAdmins: z
        .array(
          z.strictObject({
            username: z.string().trim().toLowerCase().regex(USERNAME_PATTERN, { error: USERNAME_RULE }),
            password: secret(8),
          }),
        )
        .default([]),
      planTtl: duration.prefault('10m'),
      /** Requests a minute from one source address without a credential; logins have their own limit. */
      rateLimit: z.int().min(1).default(6_000),
      /**
       * Addresses under which people and pages reach this control plane: their names are accepted as `Host`, and join links
       * and approval addresses name the first.
       */
      publicUrls: z
        .array(z.url({ protocol: /^https?$/, error: 'must be an address such as https://mesh.example.com' }))
        .default([]),
      trustProxy: trustProxy.default(false),
      metrics: metricsAccess.default('open'),
      /** How people sign in (docs/accounts-and-tokens.md#rules-for-signing-in). */
      signIn: signIn.prefault({}),
      /** Issuers that people sign in by (docs/sign-in.md). */
      oidc: issuersSchema.default([]),
      /** Kubernetes clusters whose API servers judge tokens of workloads (docs/workloads.md). */
      kubernetes: clustersSchema.default([]),
      /** Relays that run elsewhere, each told of revocations and given to nodes (docs/relays.md). */
      relays: relays.default([]),
      /** STUN servers given to nodes beside MESH_STUN_URL, <host>:<port>. */
      stun: z.array(address).max(MAX_LISTED).default([]),
      /** Backups that the control plane makes by itself (docs/reliability.md#backups). */
      backups: backups.prefault({}),
      oauth: oauthSchema.prefault({}),
      webhooks: z
        .strictObject({
          /** Hosts, addresses and CIDRs that are not on the internet and webhooks may be sent to all the same. */
          allow: z.array(allowEntry).default([]),
        })
        .prefault({}),
    })
    .refine(({ signIn, oidc }) => signIn.onlyLocalAccount === undefined || oidc.length > 0, {
      path: ['signIn', 'onlyLocalAccount'],
      error: 'needs an issuer in app.oidc: nobody else could sign in',
    })
    .superRefine((app, context) => {
      const message = missingForIssuer(app);
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['oauth', 'issuer'], message });
    })
    .prefault({}),
});

export type Environment = z.output<typeof environment>;
export type ConfigFile = z.output<typeof file>;
export interface Config extends ConfigFile {
  readonly env: Environment;
  readonly configDir: string;
  /** MESH_ variables that mean nothing here: probably misspelt. */
  readonly unknownVariables: readonly string[];
  /** Notices about the file for an operator, a sentence each. */
  readonly notices: readonly string[];
}

/** Everything that is wrong with the configuration, each line naming its variable or key. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem(s):\n${problems.map((line) => `  - ${line}`).join('\n')}`);
    this.problems = problems;
  }
}

export const DEFAULT_CONFIG_DIR = path.join(homedir(), '.meshd');

/** Variables as an environment has them; one that is empty is none. */
export type Variables = Readonly<Record<string, string | undefined>>;

export function nonEmptyVariables(variables: Variables): Variables {
  return Object.fromEntries(
    Object.entries(variables).filter(([name, value]) => name.startsWith('MESH_') && value !== ''),
  );
}

/** Pairs of variables of which one is useless without the other. */
const PAIRS = [
  ['MESH_TLS_CERT', 'MESH_TLS_KEY'],
  ['MESH_LLM_BASE_URL', 'MESH_LLM_MODEL'],
] as const;

/**
 * @param others what else is known to be wrong with them, such as what a start asks of them (`startProblems`)
 * @throws ConfigError with all problems at once
 */
export function loadConfig(variables: Variables, configDir: string, others: readonly string[] = []): Config {
  const given = nonEmptyVariables(variables);
  const problems: string[] = [];
  // Rules on several variables are checked on the raw values, so that they apply even if another variable is malformed.
  const env = environment.safeParse(given, PLAINLY);
  if (!env.success) problems.push(...problemsOf(env.error, ''));
  for (const [one, other] of PAIRS) {
    if ((given[one] === undefined) !== (given[other] === undefined)) {
      problems.push(`${one}, ${other}: set both or neither`);
    }
  }
  problems.push(...busProblems(given));
  for (const name of ['MESH_TLS_CERT', 'MESH_TLS_KEY', ...BUS_FILES] as const) {
    const text = given[name];
    if (text !== undefined && !isReadableFile(text)) problems.push(`${name}: cannot read the file ${text}`);
  }
  problems.push(...others);
  const name = path.join(configDir, 'config.yaml');
  const settings = readConfigFile(name, problems, variables);
  const unknownVariables = Object.keys(given).filter(
    (name) => !(name in environment.shape) && !(name in COMMAND_VARIABLES) && !readsSecretFrom(settings, name),
  );
  if (problems.length > 0 || !env.success || !settings) {
    // A missing variable may be present under a misspelled name.
    const own = Object.keys(environment.shape);
    throw new ConfigError([...problems, ...unknownVariables.map((name) => `${name}: ${unknownVariable(name, own)}`)]);
  }
  const notices = holdsSecret(settings) ? closeToOthers(name) : [];
  // A bus elsewhere takes the place of the embedded one.
  const elsewhere = env.data.MESH_BUS_URL !== undefined && { MESH_BUS_LISTEN: 'off' as const };
  return { env: { ...env.data, ...elsewhere }, ...settings, configDir, unknownVariables, notices };
}

/** Secrets of clients, each with the file and the variable that has it instead of this file. */
function clientSecretsOf({ app: { oidc, oauth } }: ConfigFile) {
  const bringing = oauth.identityAssertions?.clients ?? [];
  return [
    ...oidc.map((one) => [one.clientSecret, one.clientSecretFile, one.clientSecretVariable] as const),
    ...bringing.map((one) => [one.secret, one.secretFile, one.secretVariable] as const),
  ];
}

function readsSecretFrom(settings: ConfigFile | undefined, name: string): boolean {
  if (!settings) return false;
  return (
    clientSecretsOf(settings).some(([, , variable]) => variable === name) ||
    settings.app.oidc.some(({ scim }) => scim?.tokenVariable === name)
  );
}

/** True where the file itself has a secret, and not only names where it is. */
function holdsSecret(settings: ConfigFile): boolean {
  const { app } = settings;
  const isHere = clientSecretsOf(settings).some(([secret, file, variable]) => secret && !file && !variable);
  return app.initAdmins.length > 0 || typeof app.metrics === 'object' || isHere;
}

function readConfigFile(name: string, problems: string[], variables: Variables): ConfigFile | undefined {
  let text = '';
  try {
    text = readFileSync(name, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') problems.push(unreadable(name, error));
  }
  let content: unknown;
  try {
    content = parseYaml(text)[0] ?? {};
  } catch (error) {
    problems.push(`${name} is no YAML: ${(error as Error).message}. Correct it there.`);
    return undefined;
  }
  const parsed = file.safeParse(content, PLAINLY);
  if (parsed.success) {
    const { app } = parsed.data;
    checkClusterFiles(app.kubernetes, problems);
    const oidc = [...withClientSecrets(app.oidc, variables, problems)];
    return { ...parsed.data, app: { ...app, oidc, oauth: withAssertionSecrets(app.oauth, variables, problems) } };
  }
  problems.push(...problemsOf(parsed.error, 'config.yaml '));
  return undefined;
}

/** @param error of a parse with {@link PLAINLY} */
function problemsOf(error: z.ZodError, where: string): string[] {
  return fieldErrorsOf(error).map(
    ({ pointer, detail }) => `${where}${pointer.slice(1).replaceAll('/', '.')}: ${detail}`,
  );
}

function secret(minLength: number) {
  return z
    .string()
    .min(minLength, `must have at least ${minLength} characters`)
    .transform((text) => new Secret(text));
}

/** As express takes it: an address, a network, or the name of some networks. */
function isProxy(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  const bits = family === 4 ? 32 : 128;
  return (
    family !== 0 && rest.length === 0 && (prefix === undefined || (/^\d+$/.test(prefix) && Number(prefix) <= bits))
  );
}

function isNatsUrl(text: string): boolean {
  const place = /^(?:nats|tls):\/\/(.*)$/.exec(text)?.[1];
  return place !== undefined && (parseHostPort(place)?.port ?? 0) > 0;
}

function isRelayAddress(text: string): boolean {
  const place = parseHostPort(text.replace(/^lrps?:\/\//, ''));
  return place !== undefined && place.port > 0 && parseRelayAddress(text) !== undefined;
}

export function isReadableFile(name: string): boolean {
  try {
    accessSync(name, constants.R_OK);
    return statSync(name).isFile();
  } catch {
    return false;
  }
}
