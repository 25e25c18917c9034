import { describe, expect, test } from 'vitest';
import { decodeStun } from '../../net/stun/message.ts';
import { StunServer } from '../../net/stun/server.ts';
import { socketAddressOf } from '../../platform/datagrams.ts';
import { Gatherer } from './gatherer.ts';

const SERVER = { address: '203.0.113.1', port: 3478 };
const SILENT = { address: '203.0.113.2', port: 3478 };
const PUBLIC = { address: '198.51.100.7', port: 51_820 };

describe('gathering', () => {
  test('the answer of a server is the mapping, asked for again before a router forgets it', () => {
    const gatherer = asked();
    expect(answer(gatherer, gatherer.tick(0).send, 20)).toBe(true);
    expect(gatherer.mapped).toEqual({ ipv4: PUBLIC, ipv6: null });
    expect(gatherer.deadline).toBe(25_020);
    expect(answer(gatherer, gatherer.tick(25_020).send, 25_040)).toBe(false);
  });

  test('a question is repeated three times, then rests longer and longer', () => {
    const gatherer = asked();
    const sent: number[] = [];
    for (let now = 0; now < 60_000; now += 100) sent.push(...gatherer.tick(now).send.map(() => now));
    expect(sent.slice(0, 6)).toEqual([0, 300, 1_000, 4_500, 4_800, 5_500]);
    expect(sent.length).toBeLessThan(18);
  });

  test('a mapping is given up when the servers stay silent twice', () => {
    const gatherer = asked();
    answer(gatherer, gatherer.tick(0).send, 20);
    const changes: number[] = [];
    for (let now = 100; now < 60_000; now += 100) if (gatherer.tick(now).isChanged) changes.push(now);
    expect([changes.length, gatherer.mapped.ipv4]).toEqual([1, null]);
  });

  test('all servers are asked at once, and the answer of the second counts where the first is silent', () => {
    const gatherer = asked([SILENT, SERVER]);
    const { send } = gatherer.tick(0);
    expect(send.map(({ to }) => to)).toEqual([SILENT, SERVER]);
    const heard = send.filter(({ to }) => to === SERVER);
    expect(answer(gatherer, heard, 20)).toBe(true);
    expect([gatherer.mapped.ipv4, gatherer.deadline]).toEqual([PUBLIC, 25_020]);
  });

  test('an answer to no question of ours is not taken', () => {
    const gatherer = asked();
    const [question] = gatherer.tick(0).send;
    gatherer.refresh(10);
    expect(answer(gatherer, question ? [question] : [], 20)).toBeUndefined();
  });
});

function asked(servers = [SERVER]): Gatherer {
  let drawn = 0;
  const gatherer = new Gatherer((bytes) => new Uint8Array(bytes).fill(++drawn));
  gatherer.setServers('ipv4', servers, 0);
  return gatherer;
}

/** Answers the first request as a real server does. */
function answer(gatherer: Gatherer, questions: readonly { readonly bytes: Uint8Array }[], now: number) {
  const [question] = questions;
  const bytes =
    question &&
    new StunServer().answer(question.bytes, socketAddressOf(PUBLIC.address, PUBLIC.port).ip, PUBLIC.port, now);
  const message = bytes && decodeStun(bytes);
  return message && gatherer.receive(message, now);
}
