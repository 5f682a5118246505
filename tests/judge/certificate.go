package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
)

// cert.inspect reads a certificate and its private key with crypto/x509 and says what is in them that does not differ from
// one certificate to the next; with a parent, whether that has signed it.
//
// Request: {"op": "cert.inspect", "cert": PEM, "key": PEM, "parent": PEM or ""}.
func init() {
	ops["cert.inspect"] = func(request []byte) (any, error) {
		var r struct{ Cert, Key, Parent string }
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		cert, rest, err := certificate(r.Cert)
		if err != nil {
			return nil, err
		}
		keyKind, public, err := privateKey(r.Key)
		if err != nil {
			return nil, err
		}
		own, _ := x509.MarshalPKIXPublicKey(cert.PublicKey)
		given, _ := x509.MarshalPKIXPublicKey(public)
		answer := map[string]any{
			"rest": rest, "key": keyKind, "keyFits": bytes.Equal(own, given),
			"version": cert.Version, "subject": cert.RawSubject, "issuer": cert.RawIssuer,
			"signature": cert.SignatureAlgorithm.String(), "usage": cert.KeyUsage, "extendedUsage": cert.ExtKeyUsage,
			"basic": cert.BasicConstraintsValid, "ca": cert.IsCA, "pathLength": cert.MaxPathLen,
			"names": cert.DNSNames, "addresses": cert.IPAddresses,
			"hours": int(cert.NotAfter.Sub(cert.NotBefore).Hours()), "serialFits": cert.SerialNumber.BitLen() <= 128,
		}
		var spki struct {
			Algorithm asn1.RawValue
			Key       asn1.BitString
		}
		if _, err := asn1.Unmarshal(cert.RawSubjectPublicKeyInfo, &spki); err != nil {
			return nil, err
		}
		sum := sha256.Sum256(spki.Key.Bytes)
		answer["subjectKeyId"] = len(cert.SubjectKeyId)
		answer["subjectKeyIdFits"] = bytes.Equal(cert.SubjectKeyId, sum[:20])
		var extensions []string
		for _, e := range cert.Extensions {
			extensions = append(extensions, fmt.Sprint(e.Id, e.Critical))
		}
		answer["extensions"] = extensions
		signer := cert
		if r.Parent != "" {
			if signer, _, err = certificate(r.Parent); err != nil {
				return nil, err
			}
		}
		answer["authorityKeyIdFits"] = bytes.Equal(cert.AuthorityKeyId, signer.SubjectKeyId)
		answer["authorityKeyId"] = len(cert.AuthorityKeyId)
		answer["signed"] = signer.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature) == nil
		return answer, nil
	}

	// key.inspect reads a private key and names its kind and size.
	ops["key.inspect"] = func(request []byte) (any, error) {
		var r struct{ Key string }
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		kind, _, err := privateKey(r.Key)
		return kind, err
	}
}

func certificate(text string) (*x509.Certificate, string, error) {
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, "", errors.New("no certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	return cert, string(rest), err
}

func privateKey(text string) (string, any, error) {
	block, rest := pem.Decode([]byte(text))
	if block == nil || len(rest) > 0 || string(pem.EncodeToMemory(block)) != text {
		return "", nil, errors.New("no private key as Go writes it")
	}
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
		if err != nil {
			return "", nil, err
		}
		again := x509.MarshalPKCS1PrivateKey(key)
		return fmt.Sprintf("%s %d %v", block.Type, key.N.BitLen(), bytes.Equal(again, block.Bytes)), key.Public().(*rsa.PublicKey), nil
	case "EC PRIVATE KEY":
		key, err := x509.ParseECPrivateKey(block.Bytes)
		if err != nil {
			return "", nil, err
		}
		again, _ := x509.MarshalECPrivateKey(key)
		return fmt.Sprintf("%s %s %v", block.Type, key.Params().Name, bytes.Equal(again, block.Bytes)), key.Public().(*ecdsa.PublicKey), nil
	case "PRIVATE KEY":
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return "", nil, err
		}
		again, _ := x509.MarshalPKCS8PrivateKey(key)
		return fmt.Sprintf("%s %T %v", block.Type, key, bytes.Equal(again, block.Bytes)), key.(ed25519.PrivateKey).Public(), nil
	case "DSA PRIVATE KEY":
		var k struct {
			Version       int
			P, Q, G, Y, X *big.Int
		}
		if _, err := asn1.Unmarshal(block.Bytes, &k); err != nil {
			return "", nil, err
		}
		one := big.NewInt(1)
		divides := new(big.Int).Mod(new(big.Int).Sub(k.P, one), k.Q).Sign() == 0
		generates := new(big.Int).Exp(k.G, k.Q, k.P).Cmp(one) == 0 && k.G.Cmp(one) > 0
		fits := new(big.Int).Exp(k.G, k.X, k.P).Cmp(k.Y) == 0
		prime := k.P.ProbablyPrime(20) && k.Q.ProbablyPrime(20)
		return fmt.Sprintf("%s %d %d %v %v %v %v", block.Type, k.P.BitLen(), k.Q.BitLen(), divides, generates, fits, prime), nil, nil
	}
	return "", nil, errors.New("unknown kind " + block.Type)
}
