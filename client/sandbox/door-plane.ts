import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { MeshError, type ProblemCode, problems } from '../../core/base/errors.ts';

export interface PlaneLimits {
  /** Time until an answer begins, ms. */
  readonly answerMs: number;
  /** Longest pause within an answer, ms. */
  readonly silenceMs: number;
}

export interface PlaneRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Readable | undefined;
  readonly signal?: AbortSignal;
}

/** The OpenAPI document, which is the longest answer that is read here, has 1 MB. */
const MAX_READ_BYTES = 16 * 1_048_576;

/** The control plane as one agent reaches it. */
export class ProxiedPlane {
  readonly #server: string;
  readonly #token: string;
  readonly #limits: PlaneLimits;
  readonly #agent: HttpAgent;

  constructor(server: string, token: string, limits: PlaneLimits) {
    this.#server = server;
    this.#token = token;
    this.#limits = limits;
    this.#agent = new (this.#isTls ? HttpsAgent : HttpAgent)({ keepAlive: true });
  }

  /** Sends a request with the token of the agent. @throws MeshError `unavailable` where no answer begins */
  async ask({ method, path, headers, body, signal }: PlaneRequest): Promise<IncomingMessage> {
    const { answerMs, silenceMs } = this.#limits;
    const outgoing = (this.#isTls ? httpsRequest : httpRequest)(new URL(path, this.#server), {
      method,
      headers: { ...headers, authorization: `Bearer ${this.#token}` },
      agent: this.#agent,
      ...(signal && { signal }),
    });
    const late = setTimeout(() => outgoing.destroy(new Error(`no answer within ${answerMs / 1_000} s`)), answerMs);
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        outgoing.on('error', reject);
        outgoing.once('response', (answer) => {
          answer.on('error', () => {});
          answer.setTimeout(silenceMs, () => answer.destroy());
          resolve(answer);
        });
        if (!body) return outgoing.end();
        body.once('error', (error) => {
          outgoing.destroy();
          reject(error);
        });
        body.pipe(outgoing);
      });
    } catch (error) {
      if (error instanceof MeshError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new MeshError(
        'unavailable',
        `The control plane does not answer (${code ?? message}). Try again in a moment.`,
      );
    } finally {
      clearTimeout(late);
    }
  }

  /** Reads JSON. @throws MeshError as the control plane answered */
  async read(path: string): Promise<unknown> {
    const answer = await this.ask({ method: 'GET', path, headers: { accept: 'application/json' } });
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_READ_BYTES) break;
      chunks.push(chunk);
    }
    const value = parsed(Buffer.concat(chunks).toString());
    if (answer.statusCode === 200 && value !== undefined) return value;
    const { code, detail } = (value ?? {}) as { readonly code?: unknown; readonly detail?: unknown };
    if (typeof code === 'string' && Object.hasOwn(problems, code))
      throw new MeshError(code as ProblemCode, String(detail));
    throw new MeshError(
      'unavailable',
      `${this.#server} answered ${answer.statusCode}, and not as a control plane of Mesh does.`,
    );
  }

  close(): void {
    this.#agent.destroy();
  }

  get #isTls(): boolean {
    return this.#server.startsWith('https:');
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
