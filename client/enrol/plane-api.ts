import { z } from 'zod';
import type { FullGraph } from '../../core/network/graph.ts';
import { fullGraphSchema } from '../control/graph-schema.ts';

/** The control plane answered no. `code` is that of its problem body, `unknown` when something else answered. */
export class PlaneRefusal extends Error {
  override readonly name = 'PlaneRefusal';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The control plane was not reached, or what came back was not from it. */
export class PlaneAway extends Error {
  override readonly name = 'PlaneAway';
}

const TIMEOUT_MS = 15_000;
/** A graph of 20,000 peers with 100,000 rules is some 15 MB. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;

const problemSchema = z.object({ code: z.string(), title: z.string(), detail: z.string() });
const discoverySchema = z.object({ name: z.string(), controlKey: z.string(), signalingUrl: z.string() });
const registeredSchema = z.object({
  id: z.string(),
  name: z.string(),
  phase: z.enum(['pending', 'ready']),
  address: z.string().nullable(),
  workspaceId: z.string(),
  deviceToken: z.string(),
  agentToken: z.string().optional(),
  expiresAt: z.string().optional(),
  controlKey: z.string(),
  signalingUrl: z.string(),
});
const heartbeatSchema = z.object({ phase: z.string(), version: z.int() });
const renamedSchema = z.object({ name: z.string() });
const rotatedSchema = z.object({ deviceToken: z.string() });

export type Registered = z.infer<typeof registeredSchema>;

export interface RegisterRequest {
  readonly name: string;
  readonly platform: string;
  readonly publicKey: string;
  readonly hostname: string;
  readonly proof: string;
}

/** The HTTP side of the control plane, for one node. Methods throw PlaneRefusal or PlaneAway, nothing else. */
export class PlaneApi {
  readonly server: string;
  #token: string | undefined;
  readonly #signal: AbortSignal | undefined;

  constructor(server: string, token?: string, signal?: AbortSignal) {
    this.server = server;
    this.#token = token;
    this.#signal = signal;
  }

  /** For the calls from now on. */
  useToken(token: string): void {
    this.#token = token;
  }

  discovery() {
    return this.#call('GET', '/api/v1/discovery', discoverySchema, { isPublic: true });
  }

  register(body: RegisterRequest): Promise<Registered> {
    return this.#call('POST', '/api/v1/devices/register', registeredSchema, { body });
  }

  graph(): Promise<FullGraph> {
    return this.#call('GET', '/api/v1/devices/self/graph', fullGraphSchema);
  }

  heartbeat(body: object) {
    return this.#call('POST', '/api/v1/devices/self/heartbeat', heartbeatSchema, { body });
  }

  rename(name: string) {
    return this.#call('PATCH', '/api/v1/devices/self', renamedSchema, { body: { name } });
  }

  /** Removes this device. */
  leave() {
    return this.#call('DELETE', '/api/v1/devices/self', z.object({ deleted: z.string() }));
  }

  rotateKey(publicKey: string) {
    return this.#call('POST', '/api/v1/devices/self/key', rotatedSchema, { body: { publicKey } });
  }

  async #call<T>(
    method: string,
    path: string,
    schema: z.ZodType<T>,
    { body, isPublic = false }: { body?: object; isPublic?: boolean } = {},
  ): Promise<T> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(new URL(path, this.server), {
      method,
      redirect: 'error',
      headers: {
        accept: 'application/json',
        ...(!isPublic && this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: this.#signal ? AbortSignal.any([timeout, this.#signal]) : timeout,
    }).catch((error: unknown) => {
      throw new PlaneAway(`${this.server} does not answer (${reasonOf(error)})`);
    });
    const answer = await readJson(response).catch((error: unknown) => {
      throw new PlaneAway(`${this.server} broke off its answer (${reasonOf(error)})`);
    });
    if (!response.ok) {
      const problem = problemSchema.safeParse(answer).data;
      if (!problem) throw new PlaneAway(`${this.server} answered ${response.status}, not as a control plane does`);
      throw new PlaneRefusal(response.status, problem.code, `${problem.title}: ${problem.detail}`);
    }
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    const where = parsed.error.issues[0]?.path.join('.') ?? '';
    throw new PlaneAway(`${this.server} answered something else than a control plane does (${where || 'no JSON'})`);
  }
}

async function readJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}
