import { connect } from './connect.ts';
import { requireInUse } from './moved.ts';
import { requireIndexes, schemaOf } from './schema.ts';

/** Looks at a database, which control planes may use. Nothing is written. @throws StoreError that says what is wrong */
export async function examineMongo(url: string) {
  const connection = await connect(url);
  try {
    const admin = connection.client.db('admin');
    const { setName, hosts } = await admin.command({ hello: 1 });
    const { version } = await admin.command({ buildInfo: 1 });
    await requireInUse(connection);
    const schema = await schemaOf(connection);
    if (schema > 0) await requireIndexes(connection);
    return { server: `${version}`, set: `${setName}`, members: (hosts as string[]).length, schema };
  } finally {
    await connection.close();
  }
}
