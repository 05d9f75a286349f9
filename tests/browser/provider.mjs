// A real OpenID provider (the npm package oidc-provider) with one client, this server, and whoever says a name. Prints its
// address as soon as it listens.

import Provider from "oidc-provider";

const secret = process.argv[2];
const provider = (issuer) => new Provider(issuer, {
  clients: [{
    client_id: "dormouse",
    client_secret: secret,
    // A native client may come back to any port of this machine.
    application_type: "native",
    redirect_uris: ["http://127.0.0.1/sign-in/callback"],
    post_logout_redirect_uris: ["http://127.0.0.1/"],
    response_types: ["code"],
    grant_types: ["authorization_code"],
  }],
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"] },
  // What a person is called and belongs to stands in the identity token.
  conformIdTokenClaims: false,
  findAccount: (context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: `${id}@example.com`, groups: id === "ada" ? ["engineers"] : ["guests"] }),
  }),
});

const { createServer } = await import("node:http");
let answer;
const server = createServer((request, response) => answer(request, response));
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  answer = provider(issuer).callback();
  console.log(issuer);
});
