//! Keys and certificates, read back by Go, and by OpenSSL where it is.

use std::{fs, process::Command};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pintle::value::typed;
use serde_json::json;
use tera::Value;

use crate::{Judge, go, ours, ours_value};

struct Pair {
    cert: String,
    key: String,
}

impl Pair {
    fn of(value: &Value) -> Self {
        let field = |name| typed::field(value, name).unwrap().as_str().unwrap().to_owned();
        Self { cert: field("Cert"), key: field("Key") }
    }

    fn value(&self) -> Value {
        let entries = [("Cert", Value::from(self.cert.as_str())), ("Key", Value::from(self.key.as_str()))];
        typed::make(typed::Type::Certificate, entries)
    }
}

/// What Go finds in a certificate.
fn inspect(judge: &mut Judge, pair: &Pair, parent: &str) -> serde_json::Value {
    let request = json!({"op": "cert.inspect", "cert": pair.cert, "key": pair.key, "parent": parent});
    judge.ask(&request).unwrap()
}

/// The certificate that Helm makes of the same arguments.
fn of_helm(judge: &mut Judge, name: &str, args: &[serde_json::Value]) -> Pair {
    let answer = judge.ask(&json!({"op": "func.call", "name": name, "args": args})).unwrap();
    let json = STANDARD.decode(answer["json"].as_str().unwrap()).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    Pair { cert: json["Cert"].as_str().unwrap().to_owned(), key: json["Key"].as_str().unwrap().to_owned() }
}

fn list(items: &[&str]) -> Value {
    Value::from(items.iter().map(|item| Value::from(*item)).collect::<Vec<_>>())
}

fn tagged(pair: &Pair) -> serde_json::Value {
    json!({"certificate": {"cert": pair.cert, "key": pair.key}})
}

#[test]
fn certificates_are_those_of_helm() {
    let mut judge = Judge::start();
    for (name, addresses, names) in [
        ("example.com", vec!["10.0.0.1", "::1", "::ffff:1.2.3.4"], vec!["a.example.com", "*.b.example.com"]),
        ("a_b", vec![], vec![]),
        ("", vec![], vec!["a"]),
        ("grüße", vec!["1.1.1.1"], vec![]),
    ] {
        let authority = Pair::of(&ours_value("genCA", &[Value::from("an authority"), Value::from(365_i64)]));
        let helm = of_helm(&mut judge, "genCA", &[json!({"string": "an authority"}), json!({"int": 365})]);
        assert_eq!(inspect(&mut judge, &authority, ""), inspect(&mut judge, &helm, ""), "genCA");

        let args = [Value::from(name), list(&addresses), list(&names), Value::from(40_i64)];
        let given: Vec<_> = args.iter().map(crate::generate::tagged).collect();
        let own = Pair::of(&ours_value("genSelfSignedCert", &args));
        let helm_own = of_helm(&mut judge, "genSelfSignedCert", &given);
        assert_eq!(
            inspect(&mut judge, &own, ""),
            inspect(&mut judge, &helm_own, ""),
            "genSelfSignedCert {name}"
        );

        let signed = Pair::of(&ours_value("genSignedCert", &[&args[..], &[authority.value()]].concat()));
        let helm_signed = of_helm(&mut judge, "genSignedCert", &[&given[..], &[tagged(&helm)]].concat());
        let found = inspect(&mut judge, &signed, &authority.cert);
        assert_eq!(found, inspect(&mut judge, &helm_signed, &helm.cert), "genSignedCert {name}");
        assert_eq!(found["signed"], true);

        // Each takes what the other made.
        let ours_of_helm = Pair::of(&ours_value("genSignedCert", &[&args[..], &[helm.value()]].concat()));
        assert_eq!(inspect(&mut judge, &ours_of_helm, &helm.cert), found);
        let helm_of_ours =
            of_helm(&mut judge, "genSignedCert", &[&given[..], &[tagged(&authority)]].concat());
        assert_eq!(inspect(&mut judge, &helm_of_ours, &authority.cert), found);
    }
}

#[test]
fn keys_are_those_of_helm() {
    let mut judge = Judge::start();
    for kind in ["", "rsa", "ecdsa", "ed25519", "dsa"] {
        let key = ours_value("genPrivateKey", &[Value::from(kind)]).as_str().unwrap().to_owned();
        let helm = judge
            .ask(&json!({"op": "func.call", "name": "genPrivateKey", "args": [{"string": kind}]}))
            .unwrap();
        let helm = String::from_utf8(STANDARD.decode(helm["print"].as_str().unwrap()).unwrap()).unwrap();
        let mut kind_of = |key: &str| judge.ask(&json!({"op": "key.inspect", "key": key})).unwrap();
        assert_eq!(kind_of(&key), kind_of(&helm));

        // Both take both keys for a certificate, or refuse them with the same words.
        for key in [key, helm] {
            let args = [Value::from("name"), Value::from(1_i64), Value::from(key)];
            if kind == "dsa" {
                assert_eq!(ours("genCAWithKey", &args), go("genCAWithKey", &args));
                continue;
            }
            let made = Pair::of(&ours_value("genCAWithKey", &args));
            let given: Vec<_> = args.iter().map(crate::generate::tagged).collect();
            let helm = of_helm(&mut judge, "genCAWithKey", &given);
            assert_eq!(inspect(&mut judge, &made, ""), inspect(&mut judge, &helm, ""), "{kind}");
            assert_eq!((made.key.as_str(), args[2].as_str()), (helm.key.as_str(), Some(helm.key.as_str())));
        }
    }
    assert_eq!(ours_value("genPrivateKey", &[Value::from("x")]).as_str(), Some("Unknown type x"));
}

#[test]
fn what_is_no_key_or_certificate_is_refused_as_by_helm() {
    let text = |text: &str| Value::from(text);
    let block = |kind: &str| text(&format!("-----BEGIN {kind}-----\nMAA=\n-----END {kind}-----\n"));
    let days = Value::from(1_i64);
    let encoded = |value: &Value| Value::from(STANDARD.encode(value.as_str().unwrap()));
    let none = list(&[]);
    for (name, args) in [
        ("genCAWithKey", vec![text("a"), days.clone(), text("x")]),
        ("genCAWithKey", vec![text("a"), days.clone(), block("RSA PRIVATE KEY")]),
        ("genCAWithKey", vec![text("a"), days.clone(), block("EC PRIVATE KEY")]),
        ("genCAWithKey", vec![text("a"), days.clone(), block("DSA PRIVATE KEY")]),
        ("genCAWithKey", vec![text("a"), days.clone(), block("PRIVATE KEY")]),
        ("genCAWithKey", vec![text("a"), days.clone(), block("X PRIVATE KEY")]),
        ("genCAWithKey", vec![text("a"), days.clone(), block("CERTIFICATE")]),
        ("genSelfSignedCert", vec![text("a"), list(&["1.2.3"]), none.clone(), days.clone()]),
        ("genSelfSignedCert", vec![text("a"), Value::from(vec![1_i64]), none.clone(), days.clone()]),
        (
            "genSelfSignedCert",
            vec![text("a"), none.clone(), Value::from(vec![Value::from(vec![1.5])]), days.clone()],
        ),
        ("genSelfSignedCert", vec![text("a"), none.clone(), list(&["é"]), days.clone()]),
        ("buildCustomCert", vec![text("?"), text("?")]),
        ("buildCustomCert", vec![text("aaaa"), text("?")]),
        ("buildCustomCert", vec![text("aaaa"), text("aaaa")]),
        ("buildCustomCert", vec![encoded(&block("CERTIFICATE")), text("aaaa")]),
    ] {
        assert_eq!(ours(name, &args), go(name, &args), "{name} {args:?}");
    }
    let pair = Pair::of(&ours_value("genCA", &[text("a"), days.clone()]));
    let other = Pair::of(&ours_value("genCA", &[text("a"), days.clone()]));
    let mixed = Pair { cert: pair.cert.clone(), key: other.key };
    let args = [text("b"), none.clone(), none, days, mixed.value()];
    assert_eq!(
        ours("genSignedCert", &args).unwrap_err(),
        "error calling genSignedCert: error creating certificate: x509: provided PrivateKey doesn't match parent's PublicKey"
    );
    let args = [encoded(&text(&pair.cert)), encoded(&text(&pair.key))];
    assert_eq!(ours("buildCustomCert", &args), go("buildCustomCert", &args));
}

#[test]
fn openssl_verifies_certificates() {
    if Command::new("openssl").arg("version").output().is_err() {
        // Go has read them in the tests above.
        return;
    }
    let authority = Pair::of(&ours_value("genCA", &[Value::from("authority"), Value::from(10_i64)]));
    let args = [
        Value::from("leaf"),
        list(&["10.0.0.1"]),
        list(&["leaf.example"]),
        Value::from(10_i64),
        authority.value(),
    ];
    let leaf = Pair::of(&ours_value("genSignedCert", &args));
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let (ca, cert, key) = (file("ca", &authority.cert), file("cert", &leaf.cert), file("key", &leaf.key));
    let run = |args: &[&str], path: &std::path::Path| {
        let out = Command::new("openssl").args(args).arg(path).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    run(
        &["verify", "-x509_strict", "-verify_hostname", "leaf.example", "-CAfile", ca.to_str().unwrap()],
        &cert,
    );
    let of_cert = run(&["x509", "-noout", "-pubkey", "-in"], &cert);
    assert_eq!(of_cert, run(&["pkey", "-pubout", "-in"], &key));
}
