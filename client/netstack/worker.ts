import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Packets } from '../../platform/isolation.ts';
import { loadIsolation } from '../../platform/platform.ts';
import { openPortSockets, type PortSockets } from '../ice-port/sockets.ts';
import { isRelayEndpoint } from '../relay-endpoints.ts';
import { TUNNEL_MTU } from '../tunnel/mtu.ts';
import { addressField, FRAME, type Frame, frameOf, framesOf, u16, u32 } from './frames.ts';
import { startModule } from './module.ts';
import { startProgram } from './native-module.ts';
import type { ThreadData } from './stack-thread.ts';

/**
 * The thread of the userspace stack: the module, and the UDP sockets and TUN interfaces of all nodes. Datagrams of WireGuard go from socket to module
 * here; those of STUN and of relayed peers go by the main thread.
 */
const main = parentPort;
if (!main) throw new Error('This is the entry of a thread.');

const sockets = new Map<number, PortSockets>();
/** TUN interfaces, by node. */
const interfaces = new Map<number, { readonly tun: number; readonly packets: Packets }>();
const silent = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };

/** WireGuard's packets begin with 1 to 4 and three zeros, STUN's with 0 or 1 and a length that is not. */
function isWireGuard(bytes: Uint8Array): boolean {
  const [type = 0, a, b, c] = bytes;
  return type >= 1 && type <= 4 && a === 0 && b === 0 && c === 0;
}

/** Collects frames of a turn of the event loop and hands them over at once. */
function batching(send: (batch: Uint8Array<ArrayBuffer>) => void): (frame: Uint8Array) => void {
  let waiting: Uint8Array[] = [];
  return (frame) => {
    if (waiting.push(frame) > 1) return;
    setImmediate(() => {
      const frames = waiting;
      waiting = [];
      send(concat(frames));
    });
  };
}

function concat(frames: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const batch = new Uint8Array(frames.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const frame of frames) {
    batch.set(frame, at);
    at += frame.length;
  }
  return batch;
}

const post = (batch: Uint8Array<ArrayBuffer>) => main.postMessage(batch, [batch.buffer]);
const toMain = batching(post);
const { program }: ThreadData = workerData;
const module = await (program === undefined ? startModule(fromModule) : startProgram(program, fromModule));
const toModule = batching((batch) => module.send(batch));

/** The frames of one batch that are for the main thread leave together. */
function fromModule(batch: Uint8Array): void {
  const passed: Uint8Array[] = [];
  for (const frame of framesOf(batch)) {
    if (frame.kind === FRAME.packet) writePacket(frame);
    else if (frame.kind !== FRAME.datagrams || !sendByUdp(frame)) passed.push(frame.bytes);
  }
  if (passed.length > 0) post(concat(passed));
}

/** @returns false for packets of relayed peers */
function sendByUdp({ node, fields }: Frame): boolean {
  const to = fields.endpoint();
  if (isRelayEndpoint(to.address)) return false;
  const segment = fields.u16();
  const bytes = fields.rest();
  const socket = sockets.get(node);
  if (segment === 0) socket?.send(to, bytes);
  else for (let at = 0; at < bytes.length; at += segment) socket?.send(to, bytes.subarray(at, at + segment));
  return true;
}

/** A packet that the interface does not take is lost, as on the network. */
function writePacket({ node, fields }: Frame): void {
  const tun = interfaces.get(node)?.tun;
  if (tun === undefined) return;
  try {
    writeSync(tun, fields.rest());
  } catch {
    // The interface is down, or full.
  }
}

async function attach({ node, fields }: Frame): Promise<void> {
  const call = fields.u32();
  const tun = fields.u32();
  let failure = '';
  try {
    const isolation = await loadIsolation((reason) => {
      failure = reason;
    });
    const packets = isolation?.readPackets(
      tun,
      TUNNEL_MTU,
      (packet) => toModule(frameOf(FRAME.packet, node, packet)),
      () => interfaces.delete(node),
    );
    if (packets) interfaces.set(node, { tun, packets });
  } catch (error) {
    failure = (error as Error).message;
  }
  toMain(frameOf(FRAME.attach, node, u32(call), Buffer.from(failure)));
}

async function bind({ node, fields }: Frame): Promise<void> {
  const call = fields.u32();
  const port = fields.u16();
  try {
    const opened = await openPortSockets(
      (bytes, { address, port: from }) => {
        const frame = frameOf(FRAME.datagrams, node, addressField(address), u16(from, 0), bytes);
        if (!isWireGuard(bytes)) toMain(frame);
        else if (!module.isBehind()) toModule(frame);
      },
      silent,
      port,
    );
    sockets.set(node, opened);
    toMain(frameOf(FRAME.bindPort, node, u32(call), Buffer.from(`${opened.port}`)));
  } catch (error) {
    const reason = Buffer.from((error as NodeJS.ErrnoException).code ?? String(error));
    toMain(frameOf(FRAME.bindPort, node, u32(call), reason));
  }
}

function fromMain(batch: Uint8Array): void {
  for (const frame of framesOf(batch)) {
    if (frame.kind === FRAME.bindPort) void bind(frame);
    else if (frame.kind === FRAME.attach) void attach(frame);
    else if (frame.kind === FRAME.datagrams && sendByUdp(frame)) continue;
    else toModule(frame.bytes);
    if (frame.kind !== FRAME.close) continue;
    void sockets.get(frame.node)?.close();
    sockets.delete(frame.node);
    interfaces.get(frame.node)?.packets.close();
    interfaces.delete(frame.node);
  }
}

let isEnding = false;
main.on('message', (batch: Uint8Array | null) => {
  if (batch !== null) return fromMain(batch);
  isEnding = true;
  void module.end().then(() => process.exit());
});
void module.ended.then(() => {
  if (!isEnding) throw new Error('The userspace network stack ended.');
});
