/** The options that a client sends in CONNECT. Names and defaults are those of nats-server. */
export interface ConnectOptions {
  readonly verbose: boolean;
  readonly pedantic: boolean;
  readonly echo: boolean;
  readonly headers: boolean;
  readonly noResponders: boolean;
  /** 1: understands INFO at any time. */
  readonly protocol: number;
  /** The presented secret: `auth_token`, else `pass`, else `user`, which is where URLs of clients put it. */
  readonly credential: string | undefined;
}

export const CONNECT_DEFAULTS: ConnectOptions = {
  verbose: true,
  pedantic: true,
  echo: true,
  headers: false,
  noResponders: false,
  protocol: 0,
  credential: undefined,
};

const FLAGS = ['verbose', 'pedantic', 'echo', 'headers', 'no_responders', 'tls_required'] as const;
const TEXTS = ['auth_token', 'user', 'pass', 'name', 'lang', 'version', 'nkey', 'jwt', 'sig', 'account'] as const;

/** Options after this CONNECT; a second one changes only what it names. Undefined when it is malformed. */
export function parseConnect(json: string, before: ConnectOptions): ConnectOptions | undefined {
  const fields = parseObject(json);
  if (fields === undefined) return undefined;
  const { protocol } = fields;
  if (FLAGS.some((name) => !isOptional(fields[name], 'boolean'))) return undefined;
  if (TEXTS.some((name) => !isOptional(fields[name], 'string'))) return undefined;
  if (!isOptional(protocol, 'number') || (typeof protocol === 'number' && !Number.isInteger(protocol)))
    return undefined;
  const credential = [fields['auth_token'], fields['pass'], fields['user']].find(
    (value): value is string => typeof value === 'string' && value !== '',
  );
  return {
    verbose: flag(fields['verbose'], before.verbose),
    pedantic: flag(fields['pedantic'], before.pedantic),
    echo: flag(fields['echo'], before.echo),
    headers: flag(fields['headers'], before.headers),
    noResponders: flag(fields['no_responders'], before.noResponders),
    protocol: typeof protocol === 'number' ? protocol : before.protocol,
    credential: credential ?? before.credential,
  };
}

/** True when the text is a JSON object or null, as INFO and CONNECT carry. */
export function isJsonObject(json: string): boolean {
  return parseObject(json) !== undefined;
}

/** Keys in lower case: nats-server reads them in any case. */
function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value ?? {}).map(([key, field]) => [key.toLowerCase(), field]));
}

function isOptional(value: unknown, type: 'boolean' | 'string' | 'number'): boolean {
  return value === undefined || value === null || typeof value === type;
}

function flag(value: unknown, before: boolean): boolean {
  return typeof value === 'boolean' ? value : before;
}
