import { freePorts } from '../servers/free-port.ts';
import { startWiredPlane } from './wired-plane.ts';

/** A control plane in this process whose graphs name the addresses at which its bus, relay and STUN server really are. */
export async function startJoinablePlane() {
  const [bus, relay, stun] = (await freePorts(3)).map((port) => `127.0.0.1:${port}`);
  return startWiredPlane({
    env: {
      MESH_BUS_LISTEN: `${bus}`,
      MESH_RELAY_LISTEN: `${relay}`,
      MESH_STUN_LISTEN: `${stun}`,
      MESH_SIGNALING_URL: `nats://${bus}`,
      MESH_RELAY_ADVERTISE_URL: `${relay}`,
      MESH_STUN_URL: `${stun}`,
    },
  });
}
