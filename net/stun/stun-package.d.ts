/** The package brings no types: what the test uses of it. */
declare module 'stun' {
  interface Response {
    getXorAddress(): { readonly address: string; readonly port: number; readonly family: string };
  }
  interface Options {
    readonly socket?: import('node:dgram').Socket;
  }
  const stun: { request(url: string, options?: Options): Promise<Response> };
  export default stun;
}
