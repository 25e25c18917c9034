import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

const MODULE = new URL('../../native/netstack/', import.meta.url);

/** The part of wasm_exec.js that is used here. */
interface GoRuntime {
  readonly importObject: object;
  run(instance: unknown): Promise<void>;
}
interface NetstackGlobals {
  readonly WebAssembly: { instantiate(bytes: Uint8Array, imports: object): Promise<{ readonly instance: unknown }> };
  Go: new () => GoRuntime;
  netstackReceive: (frames: Uint8Array) => void;
  netstackSend: (frames: Uint8Array) => void;
}

/** A running instance of native/netstack. */
export interface StackModule {
  /** Frames must not change afterwards. */
  send(frames: Uint8Array): void;
  /** True while it takes frames more slowly than it gets them: datagrams are lost then, as on the network. */
  isBehind(): boolean;
  /** Ends what it has outside of the thread. */
  end(): Promise<void>;
  /** Resolves when it has ended, which it never does by itself. */
  readonly ended: Promise<void>;
}

/**
 * Starts the WebAssembly module. One in a thread: it speaks by global functions.
 *
 * @param receive takes frames, which are its own
 */
export async function startModule(receive: (frames: Uint8Array) => void): Promise<StackModule> {
  const globals = globalThis as unknown as NetstackGlobals;
  const [compressed] = await Promise.all([
    readFile(new URL('netstack.wasm.br', MODULE)),
    import(new URL('wasm_exec.js', MODULE).href),
  ]);
  const bytes = await promisify(brotliDecompress)(compressed);
  const go = new globals.Go();
  globals.netstackReceive = receive;
  const { instance } = await globals.WebAssembly.instantiate(bytes, go.importObject);
  // It sets `netstackSend` before its first wait.
  const ended = go.run(instance);
  const send = globals.netstackSend;
  return { send, isBehind: () => false, end: async () => {}, ended };
}
