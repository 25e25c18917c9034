import { describe, expect, it } from 'vitest';
import { ControlWindow, deliveryBytes } from './control-window.ts';
import { MAX_CONTROL_IN_FLIGHT, MAX_CONTROL_IN_FLIGHT_BYTES } from './limits.ts';

const delivery = (bytes: number) => ({
  sid: '1',
  subject: 'mesh.control.x',
  reply: undefined,
  headers: undefined,
  payload: new Uint8Array(bytes),
  from: 'n1',
  connection: 1,
});

function admitted(window: ControlWindow, bytes: number): number {
  let count = 0;
  while (count <= MAX_CONTROL_IN_FLIGHT && window.admit(delivery(bytes))) count++;
  return count;
}

describe('window to the control plane', () => {
  it('holds a bounded number of messages', () => {
    expect(admitted(new ControlWindow(), 1)).toBe(MAX_CONTROL_IN_FLIGHT);
  });

  it('holds a bounded number of bytes', () => {
    const each = deliveryBytes(delivery(1_000_000));
    expect(admitted(new ControlWindow(), 1_000_000)).toBe(Math.floor(MAX_CONTROL_IN_FLIGHT_BYTES / each));
  });

  it('is filled by strangers in part only, so that nodes are heard beside them', () => {
    const window = new ControlWindow();
    const stranger = { ...delivery(1), from: undefined };
    let strangers = 0;
    while (window.admit(stranger)) strangers++;
    expect([strangers, admitted(window, 1)]).toEqual([MAX_CONTROL_IN_FLIGHT / 2, MAX_CONTROL_IN_FLIGHT / 2]);
  });

  it('opens again by what was acknowledged', () => {
    const window = new ControlWindow();
    admitted(window, 1_000_000);
    window.acknowledge(2, 2 * deliveryBytes(delivery(1_000_000)));
    expect(admitted(window, 1_000_000)).toBe(2);
  });
});
