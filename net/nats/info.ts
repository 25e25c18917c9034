/** The facts about the broker and the connection that INFO carries. */
export interface Info {
  readonly serverId: string;
  readonly host?: string;
  readonly port?: number;
  readonly tls?: 'required' | 'available';
  readonly clientId: number;
  readonly address: string | undefined;
  readonly maxPayload: number;
  readonly authRequired: boolean;
  readonly lameDuck: boolean;
}

/** The nats-server release whose client protocol is spoken; clients decide by it what they may use. */
const PROTOCOL_VERSION = '2.9.10';

/** The INFO line; flags that do not apply are left out, as nats-server does. */
export function encodeInfo(info: Info): Uint8Array {
  const { serverId, host = '0.0.0.0', port = 4222, tls, clientId, address, maxPayload } = info;
  const fields = {
    server_id: serverId,
    server_name: 'mesh',
    version: PROTOCOL_VERSION,
    proto: 1,
    host,
    port,
    headers: true,
    max_payload: maxPayload,
    client_id: clientId,
    ...(address !== undefined && { client_ip: address }),
    ...(info.authRequired && { auth_required: true }),
    ...(tls && { [`tls_${tls}`]: true }),
    ...(info.lameDuck && { ldm: true }),
  };
  return Buffer.from(`INFO ${JSON.stringify(fields)} \r\n`, 'latin1');
}
