import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errors, Provider } from 'oidc-provider';

/**
 * An issuer of other people's making, as a process of its own on a free port of the loopback: signs in whoever gives a name. Its
 * parent says where it may lead back to, and gets its address; it ends with its parent. With a resource it lets clients in
 * there too, which register themselves and get JWTs.
 */
const [, , redirectUri = '', signedOutUri = '', resource] = process.argv;
const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'mesh',
      client_secret: 'a secret of the client',
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [signedOutUri],
      grant_types: ['authorization_code', 'refresh_token'],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  findAccount: (_context, accountId) => ({
    accountId,
    claims: () => ({
      sub: accountId,
      email: `${accountId}@example.com`,
      email_verified: accountId !== 'unverified',
      name: accountId,
      groups: ['operators'],
    }),
  }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  ...(resource !== undefined && { scopes: ['openid', 'offline_access', 'mesh'] }),
  features: {
    revocation: { enabled: true },
    registration: { enabled: resource !== undefined },
    resourceIndicators: {
      enabled: resource !== undefined,
      getResourceServerInfo(_context, asked) {
        if (asked !== resource) throw new errors.InvalidTarget();
        return { scope: 'mesh', audience: asked, accessTokenFormat: 'jwt', accessTokenTTL: 600 };
      },
    },
  },
  cookies: { keys: ['of a test'] },
  ttl: {
    AccessToken: 600,
    AuthorizationCode: 60,
    Grant: 3_600,
    IdToken: 600,
    Interaction: 600,
    RefreshToken: 3_600,
    Session: 3_600,
  },
});
provider.silent = true;
server.on('request', provider.callback());
process.on('disconnect', () => process.exit(0));
process.send?.(issuer);
