import { expect, it } from 'vitest';
import { type Processor, systemCallFilter } from './system-call-filter.ts';

const AUDIT = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
const ALLOW = 'allow';

/** Runs the program as the kernel does. */
function judge(processor: Processor, number: number, args: readonly number[] = [], audit = AUDIT[processor]): string {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, audit, true);
  for (const [index, value] of args.entries()) data.setBigUint64(16 + 8 * index, BigInt(value), true);
  const filter = systemCallFilter(processor);
  const program = new DataView(filter.buffer);
  let value = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const [jumpTrue, jumpFalse, k] = [
      program.getUint8(at + 2),
      program.getUint8(at + 3),
      program.getUint32(at + 4, true),
    ];
    const jump = (isTrue: boolean) => {
      at += 8 * (isTrue ? jumpTrue : jumpFalse);
    };
    switch (program.getUint16(at, true)) {
      case 0x20:
        value = data.getUint32(k, true);
        break;
      case 0x15:
        jump(value === k);
        break;
      case 0x35:
        jump(value >= k);
        break;
      case 0x45:
        jump((value & k) !== 0);
        break;
      default:
        if (k === 0x7fff_0000) return ALLOW;
        return k === 0x8000_0000 ? 'kill' : `errno ${k & 0xffff}`;
    }
  }
  throw new Error('The program does not end.');
}

it('denies mounts, keys, namespaces, userfaultfd and bpf on both processors, and lets a program live', () => {
  const denied = { x64: [165, 250, 308, 323, 321, 155], arm64: [40, 219, 268, 282, 280, 41] };
  const allowed = { x64: [0, 1, 59, 231, 39], arm64: [63, 64, 221, 94, 172] };
  for (const processor of ['x64', 'arm64'] as const) {
    expect(denied[processor].map((number) => judge(processor, number))).toEqual(Array(6).fill('errno 1'));
    expect(allowed[processor].map((number) => judge(processor, number))).toEqual(Array(5).fill(ALLOW));
    expect([425, 435].map((number) => judge(processor, number))).toEqual(['errno 38', 'errno 38']);
  }
});

it('lets no process stop, read or change another one as a debugger does', () => {
  const calls = { x64: [101, 310, 311, 438], arm64: [117, 270, 271, 438] };
  for (const processor of ['x64', 'arm64'] as const) {
    expect(calls[processor].map((number) => judge(processor, number))).toEqual(Array(4).fill('errno 1'));
  }
});

it('judges clone, unshare, ioctl and sockets by their arguments, of which the upper half hides nothing', () => {
  const [newUser, thread] = [0x1000_0000, 0x3d_0f00];
  expect([judge('x64', 56, [newUser]), judge('x64', 56, [thread]), judge('arm64', 220, [newUser])]).toEqual([
    'errno 1',
    ALLOW,
    'errno 1',
  ]);
  expect([judge('x64', 272, [0x80]), judge('x64', 272, [0x400])]).toEqual(['errno 1', ALLOW]);
  expect([0x5412, 0x541c, 0x5412 + 2 ** 32, 0x5401].map((request) => judge('x64', 16, [0, request]))).toEqual([
    'errno 1',
    'errno 1',
    'errno 1',
    ALLOW,
  ]);
  const socket = (...args: number[]) => judge('x64', 41, args);
  expect([socket(1, 1, 0), socket(2, 1, 6), socket(10, 2, 0), socket(16, 3, 0)]).toEqual(Array(4).fill(ALLOW));
  expect([socket(40, 1, 0), socket(17, 3, 0), socket(38, 5, 0)]).toEqual(Array(3).fill('errno 97'));
  expect([socket(2, 1, 132), socket(2, 3, 255), socket(16, 3, 12)]).toEqual(Array(3).fill('errno 93'));
});

it('ends a program that calls by the numbers of another processor, and has no x32', () => {
  expect(judge('x64', 0, [], 0x4000_0003)).toBe('kill');
  expect(judge('x64', 0x4000_0000 + 1)).toBe('errno 38');
});
